import { plainText } from './plain-text.ts';
import { readShell } from './shell-text.ts';

/** The shell found no such program, or may not run it. A script of a package ends with the same when its program is missing. */
const NO_PROGRAM: ReadonlySet<number | null> = new Set([126, 127]);

/** Output of script runners that find no script to run. Each pattern begins at the start of a line, as the runner prints it. */
const NO_SCRIPT: readonly RegExp[] = [
  // npm, and pnpm with its code in front
  /^(?:npm (?:error|ERR!) )?(?:ERR_PNPM_\w+\s+)?Missing script(?:: |\b).*$/im,
  /^(?:npm (?:error|ERR!) )(?:enoent )?(?:Could not read package\.json|.*no such file or directory, open '.*package\.json').*$/im,
  /^\s*ERR_PNPM_(?:NO_SCRIPT|NO_IMPORTER_MANIFEST_FOUND|NO_PKG_MANIFEST|RECURSIVE_EXEC_FIRST_FAIL)\b.*$/m,
  // yarn 1, yarn 2 and later, bun, deno
  /^error Command "[^"]+" not found\.?.*$/im,
  /^(?:Usage Error: )?Couldn't find a (?:script (?:named|name) .*|package\.json file in .*)$/im,
  /^error: (?:Script not found .*|Module not found .*|"[^"]+" is not a (?:valid )?script.*)$/im,
  /^Task not found: .*$/im,
  // make, just, cargo, composer, rake
  /^(?:g?make(?:\[\d+\])?: \*\*\* )(?:No rule to make target|No targets specified and no makefile found).*$/m,
  /^error: (?:Justfile does not contain recipe|No justfile found|no such (?:sub)?command:|could not find `Cargo\.toml`).*$/im,
  /^.*Don't know how to build task .*$/m,
  // an interpreter that is given no such file or module
  /^(?:\S*\/)?python\d?(?:\.\d+)?: (?:No module named|can't open file) .*$/m,
  /^Error: Cannot find module '.*'$(?=[^]*\brequireStack: \[\])/m,
  /^(?:\S*\/)?(?:sh|bash|dash)(?:: \d+)?: (?:cannot open|can't open) .*$/m,
];

/** The wording of dash, busybox, bash and zsh. */
const NO_SUCH_PROGRAM = /^.*?([^\s:]+): (?:command )?not found$/gm;

/** Lines that runners print around the cause. */
const NOISE =
  /^(?:\s*$|npm (?:error|ERR!)(?:\s*$|\s+(?:code |errno |syscall |path |workspace |location |command |Lifecycle script|A complete log|To see a list|Run "npm help|npm run))|g?make(?:\[\d+\])?: \*\*\* \[| ?ELIFECYCLE|error Command failed|info Visit)/i;
const OF_NPM = /^npm (?:error|ERR!) /i;
/** A test that failed, as vitest, jest, mocha, node, TAP, pytest, go, cargo and dotnet name it; an error of a compiler or a linter. */
const FAILURE =
  /^\s*(?:(?:FAIL|FAILED|ERROR) +\S*[./:]\S*|not ok \d+|--- FAIL: |[✕✖×✗●] +\S|test \S+ \.\.\. FAILED|Failed \w+\.\w|\S+\(\d+,\d+\): error |\S+:\d+:\d+(?::| -) error\b|\d+:\d+ +error +|error(?:\[\w+\])?: (?!could not compile))/;
const MISSING = /not found|permission denied|no such file/i;

/**
 * Whether a command that failed did so because it cannot run at all: its program or script does not exist. `output`: the end of what
 * it printed. Pure.
 */
export function cannotRun(code: number | null, output: string): boolean {
  return NO_PROGRAM.has(code) || (code !== 0 && NO_SCRIPT.some((pattern) => pattern.test(output)));
}

/** The shell found no program of a name that the command itself says. What a script starts may come with the work. */
export function isProgramMissing(command: string, code: number | null, output: string): boolean {
  if (code !== 127) return false;
  const shell = readShell(command);
  const words = shell.type === 'tokens' ? shell.tokens.flatMap((one) => (one.type === 'word' ? [one.value] : [])) : [];
  const missing = [...output.matchAll(NO_SUCH_PROGRAM)].flatMap(([, name]) => name ?? []);
  return missing.some((name) => !name.includes('/') && words.includes(name));
}

/** As `cannotRun`, from a text that says which command failed, how it ended and what it printed. */
export function saysCannotRun(text: string): boolean {
  const lines = text.replaceAll(/(\bexited with \d+[^\n:]*): /g, '$1\n');
  return /\bexited with 12[67]\b/.test(text) || NO_SCRIPT.some((pattern) => pattern.test(lines));
}

/**
 * The line of a failed command's output that says most: why its runner could not run it, the first test or file that failed, or else
 * the last line that is not a runner's.
 */
export function mainLine(output: string): string {
  const named = NO_SCRIPT.flatMap((pattern) => pattern.exec(output)?.[0] ?? []);
  const lines = plainText(output)
    .split('\n')
    .filter((line) => !NOISE.test(line));
  const others = lines.filter((line) => !OF_NPM.test(line));
  const failure = lines.find((one) => FAILURE.test(one));
  const line =
    named[0] ?? failure ?? lines.find((one) => OF_NPM.test(one)) ?? others.findLast((one) => MISSING.test(one));
  return (line ?? others.at(-1) ?? output).trim();
}
