import type { Socket } from "node:net";
import { createMinuteCounter } from "../observability/index.ts";
import { LinkedList, type ListEntry, normalAddress, rateKey } from "../system/index.ts";

interface ConnectionLimitOptions {
  readonly limits: {
    readonly max: number;
    /** An IPv6 address counts by its /64. */
    readonly maxPerAddress: number;
    /** Whether the limit for one address does not apply to this one: all of a proxy's clients share its address. */
    readonly isProxy: (address: string) => boolean;
  };
  /** Ends the oldest unfinished body, of this address or of any, with its connection. False where there is none. */
  readonly endOldestBody: (address?: string) => boolean;
  /** Receives, at most once a minute, how many connections were closed. */
  readonly report: (closed: number) => void;
}

export type ConnectionLimit = ReturnType<typeof createConnectionLimit>;

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  readonly group: AddressGroup;
  requests: number;
  idle: ListEntry<Connection> | undefined;
}

interface AddressGroup {
  readonly address: string;
  count: number;
  /** Without a request under way, the one that was idle first comes first. */
  readonly idle: LinkedList<Connection>;
}

/**
 * Bounds the connections of a listener. A connection takes memory before its first byte arrives. Past the bound, the
 * connection that has been idle longest is closed instead of the new one. So idle connections lock no sender out. Of
 * all addresses, the one with the most connections loses one.
 */
export function createConnectionLimit({ limits, endOldestBody, report }: ConnectionLimitOptions) {
  const groups = new Map<string, AddressGroup>();
  const connections = new WeakMap<Socket, Connection>();
  const handshaking = new Map<string, Connection>();
  const closed = createMinuteCounter(report);
  let total = 0;

  function closeIdle(group: AddressGroup | undefined): boolean {
    const oldest = group?.idle.first;
    if (oldest === undefined) return false;
    oldest.socket.destroy();
    leave(oldest);
    return true;
  }

  function leave(connection: Connection): void {
    if (!connections.delete(connection.socket)) return;
    handshaking.delete(connection.peer);
    const { group } = connection;
    endIdle(connection);
    group.count -= 1;
    total -= 1;
    if (group.count === 0) groups.delete(group.address);
  }

  function hasRoom(group: AddressGroup, address: string): boolean {
    if (group.count >= limits.maxPerAddress && !limits.isProxy(address)) {
      closed.add();
      if (!closeIdle(group) && !endOldestBody(group.address)) return false;
    }
    if (total >= limits.max) {
      closed.add();
      return closeIdle(largest(groups.values())) || endOldestBody();
    }
    return true;
  }

  return {
    /** Counts a connection that was accepted, and closes one where there are too many. */
    accepted(socket: Socket): void {
      const address = socket.remoteAddress;
      if (address === undefined) return void socket.destroy();
      const key = rateKey(normalAddress(address));
      const group = groups.get(key) ?? { address: key, count: 0, idle: new LinkedList() };
      if (!hasRoom(group, address)) return void socket.destroy();
      groups.set(key, group);
      const connection: Connection = { socket, peer: peerOf(socket), group, requests: 0, idle: undefined };
      connection.idle = group.idle.add(connection);
      group.count += 1;
      total += 1;
      connections.set(socket, connection);
      handshaking.set(connection.peer, connection);
      socket.once("close", () => leave(connection));
    },
    /** Relates a TLS connection to the one that it was made of. */
    secured(socket: Socket): void {
      const connection = handshaking.get(peerOf(socket));
      if (connection !== undefined) connections.set(socket, connection);
      handshaking.delete(peerOf(socket));
    },
    requestStarted(socket: Socket): void {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.requests += 1;
      endIdle(connection);
    },
    requestEnded(socket: Socket): void {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.requests -= 1;
      const { requests, group } = connection;
      if (requests === 0 && !connection.socket.destroyed) connection.idle = group.idle.add(connection);
    },
    /** Closes all without a request under way: silent ones, and those with part of a handshake or head. */
    closeAllIdle(): void {
      for (const group of groups.values()) while (closeIdle(group));
    },
    close: closed.close,
  };
}

function endIdle({ idle, group }: Connection): void {
  if (idle !== undefined) group.idle.remove(idle);
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function largest(groups: Iterable<AddressGroup>): AddressGroup | undefined {
  let found: AddressGroup | undefined;
  for (const group of groups) {
    if (group.idle.first !== undefined && group.count > (found?.count ?? 0)) found = group;
  }
  return found;
}
