/** What is noted of every request on the public listener as it arrives. */
export interface Facts {
  readonly requestId: string;
  readonly receivedAt: Date;
  /** On the scale of `performance.now()`. */
  readonly startedAt: number;
  /** The client's, through trusted proxies only. */
  readonly address: string;
  /** Whether the path is one that platforms call. */
  readonly isCallback: boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    facts: Facts;
  }
}
