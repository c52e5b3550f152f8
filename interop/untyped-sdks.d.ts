/** SDKs that bring no types. */
declare module "smartcar" {
  const smartcar: {
    hashChallenge(token: string, challenge: string): string;
    verifyPayload(token: string, signature: string, body: unknown): boolean;
  };
  export default smartcar;
}

declare module "paypal-rest-sdk" {
  const paypal: {
    readonly notification: {
      readonly webhookEvent: {
        /** Adds the names of the headers in upper case to them. */
        verify(
          headers: Record<string, string>,
          body: string,
          webhookId: string,
          done: (error: Error | null, isRight: boolean | null) => void,
        ): void;
      };
    };
  };
  export default paypal;
}
