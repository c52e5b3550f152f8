import { defineConfig } from "oncehook";
import { parcelShipped } from "./handlers/parcel-shipped.ts";

/** The handlers of your own; values such as secrets and addresses come from the environment. */
export default defineConfig({ handlers: [parcelShipped] });
