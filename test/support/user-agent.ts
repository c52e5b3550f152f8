/** A browser without a screen: keeps cookies for each host, follows redirects, fills in forms. */
export class UserAgent {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** Every address it has been sent to, the oldest first. */
  readonly visited: string[] = [];

  /** One request, its redirects not followed. */
  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    this.visited.push(url);
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: { accept: "text/html,*/*;q=0.8", ...(cookie === "" ? {} : { cookie }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";", 1);
      const mark = pair.indexOf("=");
      const [name, value] = [pair.slice(0, mark), pair.slice(mark + 1)];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Sends the cookies of one host to another as well: two processes behind one address. */
  share(from: string, to: string): void {
    const jar = this.#cookies.get(from);
    if (jar !== undefined) this.#cookies.set(to, jar);
  }

  /** Follows redirects until `stop` says that the next address is not to be visited; returns that address, or the page. */
  async walk(
    url: string,
    stop: (url: string) => boolean,
    init?: RequestInit,
  ): Promise<{ readonly stoppedAt: string } | { readonly url: string; readonly page: string }> {
    let response = await this.request(url, init);
    let current = url;
    for (;;) {
      const location = response.headers.get("location");
      if (location === null) return { url: current, page: await response.text() };
      current = new URL(location, current).href;
      if (stop(current)) return { stoppedAt: current };
      response = await this.request(current);
    }
  }

  /** The same where the platform's last page posts the parameters to the redirect address; returns its answer. */
  async authorizeByPost(startUrl: string, redirectUri: string, login = "ada"): Promise<Response> {
    const { page } = await this.#signIn(startUrl, (url) => url.startsWith(redirectUri), login, redirectUri);
    const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const body = new URLSearchParams(fields.map(([, name = "", value = ""]): [string, string] => [name, value]));
    return this.request(redirectUri, { method: "POST", body, headers: { origin: "null" } });
  }

  /** Signs in and consents at the platform, and returns the address of the redirect without visiting it. */
  async authorize(startUrl: string, redirectUri: string, login = "ada"): Promise<string> {
    const at = await this.#signIn(startUrl, (url) => url.startsWith(redirectUri), login);
    if (at.stoppedAt === undefined) throw new Error("the platform did not send the browser back");
    return at.stoppedAt;
  }

  async #signIn(
    startUrl: string,
    stop: (url: string) => boolean,
    login: string,
    lastAction?: string,
  ): Promise<{ readonly stoppedAt?: string; readonly page: string }> {
    let at = await this.walk(startUrl, stop);
    for (let step = 0; step < 5 && "page" in at; step += 1) {
      const action = /<form[^>]* action="([^"]+)"/.exec(at.page)?.[1] ?? "";
      if (action === lastAction) return { page: at.page };
      const prompt = /name="prompt" value="(\w+)"/.exec(at.page)?.[1];
      if (prompt === undefined) throw new Error(`no form to fill in:\n${at.page}`);
      const body = new URLSearchParams({ prompt, login, password: "any" });
      at = await this.walk(new URL(action, at.url).href, stop, { method: "POST", body });
    }
    return "page" in at ? { page: at.page } : { stoppedAt: at.stoppedAt, page: "" };
  }
}
