import { Argument, Command } from "commander";
import { bashScript } from "./bash-script.ts";
import { type CompletedCommand, commandTree } from "./command-tree.ts";
import { fishScript } from "./fish-script.ts";
import { zshScript } from "./zsh-script.ts";

const SCRIPTS: Readonly<Record<string, (tree: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

const INSTALLING = `
Where it goes:
  bash   echo 'source <(oncehook completion bash)' >> ~/.bashrc
  zsh    echo 'source <(oncehook completion zsh)' >> ~/.zshrc     (after compinit)
  fish   oncehook completion fish > ~/.config/fish/completions/oncehook.fish`;

export function completionCommand(): Command {
  return new Command("completion")
    .description("Print a script that completes commands, options and their values at the tab key.")
    .addArgument(new Argument("<shell>", "the shell it is for").choices(Object.keys(SCRIPTS)))
    .addHelpText("after", INSTALLING)
    .action((shell: string, _options: object, command: Command) => {
      process.stdout.write(SCRIPTS[shell]?.(commandTree(command.parent ?? command)) ?? "");
    });
}
