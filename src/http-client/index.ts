export { boundedFetch, type ReceivedResponse, type SendRequestOptions, sendRequest } from "./http-client.ts";
