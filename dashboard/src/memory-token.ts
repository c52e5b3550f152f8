/** The admin token of this page, in its memory alone: a reload forgets it. */
let token: string | undefined;

export function keepToken(value: string | undefined): void {
  token = value;
}

export function hasToken(): boolean {
  return token !== undefined;
}

/** `fetch` with that token, where there is one. */
export function fetchAsOperator(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  if (token === undefined) return fetch(input, init);
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers });
}
