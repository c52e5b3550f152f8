import { receiver } from "../../../../lib/receiver.ts";

const page = async (request: Request) => (await receiver()).admin.fetch(request, { basePath: "/admin/webhooks" });

export { page as DELETE, page as GET, page as HEAD, page as POST };
