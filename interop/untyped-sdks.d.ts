/** The SDK brings no types. */
declare module "smartcar" {
  const smartcar: {
    hashChallenge(token: string, challenge: string): string;
    verifyPayload(token: string, signature: string, body: unknown): boolean;
  };
  export default smartcar;
}
