import { HONO, HONO_NODE } from "./adapters/hono.ts";
import { describeFramework } from "./describe-framework.ts";

describeFramework(HONO);
describeFramework(HONO_NODE);
