import type { CompletedCommand, Value } from "./command-tree.ts";
import { taking } from "./shell-walk.ts";

export function fishScript(tree: readonly CompletedCommand[]): string {
  const steps = tree.flatMap(({ path, subcommands }) =>
    subcommands.map(
      ({ name }) =>
        `            case ${quoted(`${path}/${name}`)}\n                set command ${quoted(`${path} ${name}`.trim())}`,
    ),
  );
  const values = taking(tree).map(({ command, flag }) => quoted(`${command.path}/${flag}`));
  return `# fish completion, written by: oncehook completion fish
function __oncehook_at
    set -l command ''
    set -l waits 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $waits = 1
            set waits 0
            continue
        end
        switch "$command/$word"
${steps.join("\n")}
            case ${values.join(" ")}
                set waits 1
        end
    end
    test "$command" = "$argv"
end
# Whether the words since the last option are values of this one, which takes several.
function __oncehook_in
    set -l options (string match -- '-*' (commandline -opc))
    test "$options[-1]" = $argv[1]
end
complete -c oncehook -f
${tree.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, subcommands, options, values }: CompletedCommand): string[] {
  const start = `complete -c oncehook -n ${quoted(`__oncehook_at ${path}`.trim())}`;
  const [value] = values;
  return [
    ...subcommands.map(({ name, description }) => `${start} -a ${quoted(name)} -d ${quoted(description)}`),
    ...options.flatMap(({ flags, value, isVariadic }) =>
      value !== undefined && isVariadic
        ? flags.map(
            (flag) =>
              `complete -c oncehook -n ${quoted(`__oncehook_at ${path}; and __oncehook_in ${flag}`)} ${asked(value)}`,
          )
        : [],
    ),
    ...options.map(({ flags, value, description }) => {
      const names = flags.map((flag) =>
        flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const taken = value === undefined ? "" : ` -r ${asked(value)}`;
      return `${start} ${names.join(" ")}${taken} -d ${quoted(description)}`;
    }),
    ...(value === undefined || value === "any" ? [] : [`${start} ${asked(value)}`]),
  ];
}

function asked(value: Value): string {
  if (value === "file") return "-F";
  if (value === "any") return "-f";
  if (value === "folder") return "-f -a '(__fish_complete_directories)'";
  return `-f -a ${quoted(value.join(" "))}`;
}

/** In fish a backslash stays one also between single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
