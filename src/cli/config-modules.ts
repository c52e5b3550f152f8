/**
 * For commands, which load it on demand. Only what is named here is in the part of the package that they load. The whole
 * folder on demand would be one part, and an application's import of `oncehook` would load Zod with it.
 */
export {
  APPLICATION_PREFIX,
  applicationVariables,
  CONFIG_FILE_NAMES,
  ConfigError,
  loadConfig,
  loadConfigFile,
  loadDatabase,
  loadEnvironment,
  renameVariables,
  savedAdminToken,
} from "../config/index.ts";
