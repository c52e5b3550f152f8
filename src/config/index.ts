export type { AuthMethod } from "./authentication-variables.ts";
export { compareEnvironments, type EnvironmentFile } from "./compare-environments.ts";
export type { AppEnvironment, Config, JwtConfig, OAuthConfig } from "./config.ts";
export { ConfigError } from "./config-error.ts";
export { type ConfigFile, defineConfig, loadConfigFile } from "./config-file.ts";
export { describeVariables, type VariableDescription } from "./describe-variables.ts";
export { loadConfig } from "./load-config.ts";
export { type LoadedEnvironment, loadEnvironment, savedAdminToken } from "./load-environment.ts";
export { isLoopbackHost } from "./public-host.ts";
