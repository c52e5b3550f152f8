#!/usr/bin/env node
import { createProgram } from "./program.ts";
import { reportFailure } from "./report-failure.ts";

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(error);
}
