import type { NextConfig } from "next";

const config: NextConfig = {
  // The page at /admin/webhooks: its files stand beside the code of the package, and a bundle leaves them behind.
  serverExternalPackages: ["oncehook"],
  outputFileTracingIncludes: { "/admin/**": ["./node_modules/oncehook/dashboard/dist/**"] },
};
export default config;
