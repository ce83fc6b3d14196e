import { Argument, Option, type AddHelpTextContext, type Command } from 'commander';
import { nameOf, type Flag, type Word } from '../text/flags.ts';
import { FLAGS, type CommandContext } from './command-context.ts';
import { JSON_OBJECT } from './flags.ts';
import type { PoolPlace, PoolUse } from './pool/in-pool.ts';

/** A command. Its code is loaded when it runs; without `load`, it only has the commands below it. */
export interface CommandRow {
  readonly about: string;
  readonly examples?: readonly string[];
  /** Where it leaves something. */
  readonly leaves?: readonly (readonly [name: string, about: string])[];
  readonly words?: readonly Word[];
  /** Absent: those in `FLAGS` with its name, or else `--json`. */
  readonly flags?: readonly Flag[];
  /** Flags that have to be given, by their names. */
  readonly needs?: readonly string[];
  /** squad starts it itself. */
  readonly hidden?: boolean;
  /** With `--pool` it is about a run of a pool. `itself`: the command looks for it. */
  readonly pool?: PoolUse | 'itself';
  readonly commands?: Commands;
  readonly load?: () => Promise<(context: CommandContext, ...given: never[]) => Promise<void> | void>;
}
/** By name, in the order of the help. */
export type Commands = Readonly<Record<string, CommandRow>>;

/** Adds commands with their flags, arguments and examples. */
export function addCommands(parent: Command, commands: Commands, context: CommandContext): void {
  for (const [name, row] of Object.entries(commands)) {
    const { about, examples = [], leaves = [], words = [], needs = [], hidden = false, load } = row;
    const own = row.flags ?? (load && ((FLAGS as Readonly<Record<string, readonly Flag[]>>)[name] ?? [JSON_OBJECT]));
    const flags = row.pool === undefined ? own : [...(own ?? []), OF_POOL];
    const command = parent.command(name, { hidden }).description(about);
    if (leaves.length > 0) command.addHelpText('after', section('Leaves:', ...leaves.map((one) => leftLine(...one))));
    if (examples.length > 0) command.addHelpText('after', example(...examples));
    for (const [word, help, choices] of words) {
      const argument = new Argument(word, help);
      command.addArgument(choices === undefined ? argument : argument.choices(choices));
    }
    for (const flag of flags ?? []) command.addOption(optionOf(flag).makeOptionMandatory(needs.includes(nameOf(flag))));
    if (load !== undefined) {
      command.allowExcessArguments();
      command.action(async (...given: unknown[]) => {
        const [options, self] = given.slice(-2) as [object, Command];
        const isOpen = words.at(-1)?.[0].includes('...') === true;
        if (self.args.length > words.length && !isOpen)
          throw (await import('./excess-words.ts')).excessWords(self, words);
        // A flag that the command above has, too, was read as its own.
        const all = parent.parent === null ? options : { ...parent.opts(), ...options };
        const act = await load();
        const place = row.pool === undefined ? undefined : await placeOf(context, row, { ...all, first: given[0] });
        await act(place?.context ?? context, ...([...given.slice(0, -2), all, self] as never[]));
        // Not after a refusal, whose advice may need what is there.
        await place?.close();
      });
    }
    addCommands(command, row.commands ?? {}, context);
  }
}

const OF_POOL = ['--pool <url>', 'a run of the pool at this PostgreSQL, from any machine'] as const;

/** A machine that shows a run of a pool; undefined: this one. */
async function placeOf(
  context: CommandContext,
  { words = [], pool: use }: CommandRow,
  { pool, run, first }: { readonly pool?: string; readonly run?: string; readonly first: unknown },
): Promise<PoolPlace | undefined> {
  if (pool === undefined || use === undefined || use === 'itself') return undefined;
  const named = /^\[(?:run|name)\]$/.test(words[0]?.[0] ?? '') && typeof first === 'string' ? first : undefined;
  const { inPool } = await import('./pool/in-pool.ts');
  return inPool(context, use, { pool, run: run ?? named });
}

function optionOf([flag, about, values]: Flag): Option {
  const option = new Option(flag, about).hideHelp(about === undefined);
  if (values === undefined) return option;
  return typeof values === 'function'
    ? option.argParser(values as (text: string, before: unknown) => unknown)
    : option.choices(values);
}

export function example(...lines: readonly string[]): (about: AddHelpTextContext) => string {
  return section('Example:', ...lines);
}

function section(of: string, ...lines: readonly string[]): (about: AddHelpTextContext) => string {
  return ({ command }) => {
    const title = command.createHelp().styleTitle(of);
    return `\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`;
  };
}

function leftLine(name: string, about: string): string {
  return `${name.padEnd(9)}${about}`;
}
