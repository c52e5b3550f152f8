import type { DistinctHeaders } from "../verify/index.ts";
import { cookieOf } from "./cookie.ts";

/** `__Host-` keeps other hosts and paths from setting it (RFC 6265bis §4.1.3.2). */
const NAME = "__Host-oncehook-browser";
const VALUE = /^[\w-]{43}$/;

/** The value that binds flows to this browser, where it sends one. */
export function browserOf(headers: DistinctHeaders): string | undefined {
  return cookieOf(headers.cookie ?? [], NAME, VALUE);
}

/** @param crossSite a form post comes from the platform's own page, and `Lax` would keep the cookie from it */
export function browserCookie(value: string, maxAgeSeconds: number, crossSite: boolean): string {
  const sameSite = crossSite ? "None" : "Lax";
  return `${NAME}=${value}; Path=/; Max-Age=${maxAgeSeconds}; Secure; HttpOnly; SameSite=${sameSite}`;
}
