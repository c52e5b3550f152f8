import { EXPRESS, EXPRESS_4, EXPRESS_MOUNTED, EXPRESS_MOUNTED_UNKNOWN, EXPRESS_ROUTER } from "./adapters/express.ts";
import { FASTIFY, FASTIFY_PREFIX, FASTIFY_PREFIX_UNKNOWN } from "./adapters/fastify.ts";
import { KOA } from "./adapters/koa.ts";
import { NEST, NEST_RAW_BODY } from "./adapters/nest.ts";
import { NODE } from "./adapters/node.ts";
import { describeFramework } from "./describe-framework.ts";

describeFramework(NODE);
describeFramework(EXPRESS);
describeFramework(EXPRESS_MOUNTED);
describeFramework(EXPRESS_MOUNTED_UNKNOWN);
describeFramework(EXPRESS_ROUTER);
describeFramework(EXPRESS_4);
describeFramework(NEST);
describeFramework(NEST_RAW_BODY);
describeFramework(FASTIFY);
describeFramework(FASTIFY_PREFIX);
describeFramework(FASTIFY_PREFIX_UNKNOWN);
describeFramework(KOA);
