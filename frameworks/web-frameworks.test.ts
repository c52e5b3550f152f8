import { HONO, HONO_NODE } from "./adapters/hono.ts";
import { LAMBDA_HTTP_API, LAMBDA_URL } from "./adapters/lambda.ts";
import { describeFramework } from "./describe-framework.ts";

describeFramework(HONO);
describeFramework(HONO_NODE);
describeFramework(LAMBDA_URL);
describeFramework(LAMBDA_HTTP_API);
