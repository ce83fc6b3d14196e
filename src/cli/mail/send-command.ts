import type { z } from 'zod';
import { inputsOf, titleOf, type Given } from '../../model/mail/compose.ts';
import { MAIL_KINDS, type MailKind } from '../../model/mail/kind.ts';
import { defined } from '../../text/defined.ts';
import { atMoment } from '../../text/duration.ts';
import type { SendOptions } from './options.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The value that a flag takes. */
export type FlagType = 'text' | 'list' | 'number' | 'boolean' | 'json' | 'moment';

export interface SendFlag {
  /** Without `--`. */
  readonly name: string;
  /** Its name among the options. */
  readonly key: string;
  readonly type: FlagType;
  readonly help: string;
}

/** A kind of message that a command makes. */
interface Made {
  readonly kind: MailKind;
  /** The value of `--action` that selects it; undefined: none. */
  readonly action: string | undefined;
  readonly preset: boolean;
  readonly defaults: Fields;
  readonly flags: Readonly<Record<string, string | null>>;
  /** The field of its body that the words of the command are for. */
  readonly words: string | undefined;
}

/** A command of `squad mail` that sends a message. */
export interface SendCommand {
  readonly name: string;
  readonly does: string;
  readonly example: readonly string[];
  readonly makes: readonly Made[];
  readonly flags: readonly SendFlag[];
  /** Values of `--action`, where that selects the kind; the preset first. */
  readonly actions: readonly string[];
  /** Whether `--action` has to be given. */
  readonly needsAction: boolean;
  /** Whether it takes plain words. */
  readonly inWords: boolean;
}

/** Every command that sends messages, as the table of kinds has them. */
export const SEND_COMMANDS: readonly SendCommand[] = [
  ...new Set(
    MAIL_KINDS.flatMap(({ command, words }) => [command, words?.command].flatMap((maker) => maker?.name ?? [])),
  ),
].map(sendCommand);

function sendCommand(name: string): SendCommand {
  const makers = MAIL_KINDS.flatMap(({ command, words }) =>
    [command, words?.command].filter((maker) => maker?.name === name),
  );
  const makes = MAIL_KINDS.flatMap((kind) => madeBy(name, kind));
  const flags = flagsOf(makes);
  const isFree = flags.some((flag) => flag.name === 'action');
  const chosen = makes.toSorted((a, b) => Number(b.preset) - Number(a.preset)).flatMap(({ action }) => action ?? []);
  return {
    name,
    does: makers.find((maker) => maker?.does !== undefined)?.does ?? `Send a message of the kind ${name}.`,
    example: makers.flatMap((maker) => maker?.example ?? []),
    makes,
    flags,
    actions: isFree ? [] : chosen,
    needsAction: !isFree && makes.every(({ action, preset }) => action !== undefined && !preset),
    inWords: makes.some(({ words }) => words !== undefined),
  };
}

function madeBy(name: string, kind: MailKind): Made[] {
  const { command, words } = kind;
  const one = (maker: typeof command, field?: string): Made[] =>
    maker?.name === name
      ? [
          {
            kind,
            action: maker.action,
            preset: maker.preset === true,
            defaults: maker.defaults ?? {},
            flags: command?.flags ?? {},
            words: field,
          },
        ]
      : [];
  return [...one(command), ...one(words?.command, words?.field)];
}

/** The kind that `--action` selects; undefined: it selects none. */
export function selectKind({ makes }: SendCommand, action: string | undefined): Made | undefined {
  const exact = makes.find((made) => action !== undefined && made.action === action);
  return exact ?? makes.find((made) => made.preset || made.action === undefined);
}

/** The values of a command's options, by field. `known`: values for fields without a flag. */
export function givenBy(
  command: SendCommand,
  made: Made,
  { options, known, now }: { readonly options: SendOptions; readonly known: Given; readonly now: number },
): Given {
  const names = namesOf(made);
  const fields = command.flags.flatMap(({ key, type, name }): [string, unknown][] => {
    const value = options[key];
    if (type === 'moment' || (key === 'action' && value === made.action)) return [];
    return [[names.get(name) ?? foreignName(command, name), value]];
  });
  const until = options.reviewDeadline ?? options.deadline;
  const deadline = until === undefined ? undefined : atMoment(until, now);
  const { to, task, owner, corr, ttl } = options;
  const given = { to, task_id: task, owner, corr, ttl_ms: ttl, deadline, ...Object.fromEntries(fields) };
  return { ...made.defaults, ...known, ...defined(given) };
}

/** The flag behind a field that the composer refuses. */
export function flagNamed(made: Made, field: string): string {
  const common: Fields = { to: 'to', task_id: 'task', owner: 'owner', corr: 'corr', deadline: 'deadline' };
  const flag = [...namesOf(made)].find(([, name]) => name === field)?.[0] ?? common[field];
  return typeof flag === 'string' ? `--${flag}` : `--${field.replaceAll('_', '-')}`;
}

/** Field names by flag. */
function namesOf({ kind, flags, words }: Made): ReadonlyMap<string, string> {
  return new Map(
    Object.keys(inputsOf(kind)).flatMap((name): [string, string][] => {
      const flag = flags[name] === undefined ? name.replaceAll('_', '-') : flags[name];
      return flag === null || name === words ? [] : [[flag, name]];
    }),
  );
}

/** The flag is of another kind that this command makes: the composer refuses its field. */
function foreignName({ makes }: SendCommand, flag: string): string {
  return makes.flatMap((made) => namesOf(made).get(flag) ?? []).at(0) ?? flag;
}

function flagsOf(makes: readonly Made[]): SendFlag[] {
  const all = makes.flatMap((made) => {
    const inputs = inputsOf(made.kind);
    const own = [...namesOf(made)].flatMap(([name, field]) => {
      const schema = inputs[field];
      return schema === undefined
        ? []
        : [{ name, type: typeOf(schema), says: schema.description ?? '', of: made.kind }];
    });
    return [...own, ...momentsOf(made.kind)];
  });
  const names = [...new Set(all.map(({ name }) => name))];
  return names.flatMap((name) => {
    const same = all.filter((flag) => flag.name === name);
    const [first] = same;
    if (first === undefined) return [];
    const everywhere = same.every(({ says }) => says === first.says) && same.length === makes.length;
    const help = everywhere
      ? helpText(first.says)
      : same.map(({ of, says }) => `${titleOf(of)}: ${helpText(says)}`).join('; ');
    const key = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [{ name, key, type: first.type, help }];
  });
}

function momentsOf(kind: MailKind): { name: string; type: FlagType; says: string; of: MailKind }[] {
  const { field } = kind.answerTime ?? {};
  const says = 'By when: 3600 (seconds), 90s, 30m, 2h, or a date and time with its zone.';
  const moment = (name: string) => ({ name, type: 'moment' as const, says, of: kind });
  if (field === undefined) return [];
  return field === 'deadline' ? [moment('deadline')] : [moment('review-deadline'), moment('deadline')];
}

function typeOf(schema: z.ZodType): FlagType {
  const { type, innerType, element } = schema.def as { type: string; innerType?: z.ZodType; element?: z.ZodType };
  if (innerType !== undefined) return typeOf(innerType);
  if (type === 'array') return element?.def.type === 'object' ? 'json' : 'list';
  return type === 'boolean' || type === 'number' ? type : 'text';
}

/** A description as help texts have it. */
function helpText(says: string): string {
  return `${says.charAt(0).toLowerCase()}${says.slice(1)}`.replace(/\.$/, '');
}
