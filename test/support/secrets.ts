/** What the receivers of the tests are configured with. */
export const SECRET = "test-signing-secret-of-32-bytes!";
export const TOKEN = "test-admin-token-of-some-length";
