import { createInterface } from 'node:readline/promises';
import { limitsFromOptions } from '../model/limits.ts';
import { usageError } from '../model/errors.ts';
import { trustLines } from '../squad/preflight/consent.ts';
import type { TrustOption } from '../squad/new-run.ts';
import type { CommandContext, JsonOptions, NewRunOptions, RunOptions } from './command-context.ts';
import type { Output } from './output.ts';
import { pagesOf } from './board/pages.ts';

type Asking = Extract<TrustOption['trust'], (...given: never[]) => unknown>;

/** `--yes`, or else a person at the terminal agrees to the commands of a run. undefined: no person can. */
export function trustOf(
  { output }: CommandContext,
  { yes, json }: JsonOptions & { readonly yes?: boolean },
  title?: string,
): TrustOption['trust'] {
  if (yes === true) return 'yes';
  return process.stdin.isTTY && json !== true ? askAt(output, title) : undefined;
}

/** The options of a new run, as the library takes them. */
export function newRunOf(
  context: CommandContext,
  options: NewRunOptions & Pick<RunOptions, 'json' | 'strict' | 'base' | 'fetch' | 'plan' | 'tries'>,
) {
  const { playbook, runtime, model: models, name, allowFullAccess, strict, base, fetch, plan, tries } = options;
  const trust = trustOf(context, options);
  return {
    playbook,
    tries,
    runtime,
    models,
    name,
    allowFullAccess,
    strict,
    base,
    fetch,
    plan,
    trust,
    limits: limitsFromOptions(options),
  };
}

/** Shows all of every item with its source, a screen at a time. Only `y` or `yes` after the last one counts as consent. */
function askAt(output: Output, title = 'The objective or the repository wants to do this on this machine:'): Asking {
  return async (items) => {
    const lines = [title, ...trustLines(items).map((line) => `  ${line}`)];
    const pages = pagesOf(lines, { columns: process.stderr.columns || 80, rows: process.stderr.rows || 24 });
    for (const [index, page] of pages.entries()) {
      for (const line of page) output.problem(line);
      if (index === pages.length - 1) break;
      const given = await ask(`-- ${index + 1} of ${pages.length}: Enter shows the next page, q ends -- `);
      if (given === undefined || /^(?:q|quit|n|no)$/i.test(given)) return false;
    }
    return confirm('Allow exactly this, now and in later runs?');
  };
}

/** Asks the person at the terminal. Anything but `y` or `yes` is a no, and so is the end of the input. `yes`: so is not Enter alone. */
export async function confirm(question: string, enter: 'yes' | 'no' = 'no'): Promise<boolean> {
  const given = await ask(`${question} ${enter === 'yes' ? '[Y/n]' : '[y/N]'} `);
  return /^(?:y|yes)$/i.test(given === '' ? enter : (given ?? ''));
}

/** `--yes`, or else a person at the terminal agrees. Throws `usage` where no person can be asked. `show`: called before the question. */
export async function agreesToRemove(
  { yes, json }: JsonOptions & { readonly yes?: boolean },
  {
    about,
    next,
    question,
    show,
  }: { readonly about: string; readonly next: string; readonly question: string; readonly show?: () => void },
): Promise<boolean> {
  if (yes === true) return true;
  if (!process.stdin.isTTY || json === true)
    throw usageError(`${about} needs your consent`, `Give it with \`${next}\`.`);
  show?.();
  return confirm(question);
}

/** undefined: the input has ended, or Ctrl-C was pressed. */
async function ask(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  try {
    const given = await Promise.race([terminal.question(question), closed]);
    return given?.trim();
  } finally {
    terminal.close();
  }
}
