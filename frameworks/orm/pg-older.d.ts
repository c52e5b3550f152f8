declare module "pg-older" {
  export { default } from "pg";
}
