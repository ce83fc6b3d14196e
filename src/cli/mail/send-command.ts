import type { z } from 'zod';
import { inputsOf, titleOf, type Given } from '../../model/mail/compose.ts';
import type { MailKind } from '../../model/mail/kind.ts';
import { jointFields, lowerFirst, mailCommands, type Made } from '../../model/mail/makers.ts';
import { defined } from '../../text/defined.ts';
import { atMoment } from '../../text/duration.ts';
import type { SendOptions } from './options.ts';

/** The value that a flag takes. */
type FlagType = 'text' | 'list' | 'number' | 'boolean' | 'json' | 'moment';

export interface SendFlag {
  /** Without `--`. */
  readonly name: string;
  /** Its name among the options. */
  readonly key: string;
  readonly type: FlagType;
  readonly help: string;
}

/** Every command that sends messages, as the table of kinds has them. */
export const SEND_COMMANDS = mailCommands().map((command) => {
  const { makes } = command;
  const flags = flagsOf(makes);
  const isFree = flags.some((flag) => flag.name === 'action');
  const makers = makes.map(({ maker }) => maker);
  const chosen = makers.toSorted((a, b) => Number(b.preset ?? 0) - Number(a.preset ?? 0));
  return {
    ...command,
    example: makers.flatMap(({ example }) => example ?? []),
    flags,
    /** Values of `--action`, where that selects the kind; the preset first. */
    actions: isFree ? [] : chosen.flatMap(({ action }) => action ?? []),
    /** Whether `--action` has to be given. */
    needsAction: !isFree && makers.every(({ action, preset }) => action !== undefined && preset === undefined),
  };
});

export type SendCommand = (typeof SEND_COMMANDS)[number];

/** The kind that `--action` selects; undefined: it selects none. */
export function selectKind({ makes }: SendCommand, action: string | undefined): Made | undefined {
  const exact = makes.find(({ maker }) => action !== undefined && maker.action === action);
  return exact ?? makes.find(({ maker }) => maker.preset ?? maker.action === undefined);
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
    if (type === 'moment' || (key === 'action' && value === made.maker.action)) return [];
    return [[names.get(name) ?? foreignName(command, name), value]];
  });
  const until = options.reviewDeadline ?? options.deadline;
  const deadline = until === undefined ? undefined : atMoment(until, now);
  const { to, task, owner, corr, ttl } = options;
  const given = { to, task_id: task, owner, corr, ttl_ms: ttl, deadline, ...Object.fromEntries(fields) };
  return { ...made.maker.defaults, ...known, ...defined(given) };
}

/** The flag behind a field that the composer refuses. */
export function flagNamed(made: Made, field: string): string {
  const common: Readonly<Record<string, string>> = {
    to: 'to',
    task_id: 'task',
    owner: 'owner',
    corr: 'corr',
    deadline: 'deadline',
  };
  const flag = [...namesOf(made)].find(([, name]) => name === field)?.[0] ?? common[field];
  return `--${flag ?? field.replaceAll('_', '-')}`;
}

/** Field names by flag. */
function namesOf({ kind, words }: Made): ReadonlyMap<string, string> {
  return new Map(
    Object.keys(inputsOf(kind)).flatMap((name): [string, string][] => {
      const own = kind.command?.flags?.[name];
      const flag = own === undefined ? name.replaceAll('_', '-') : own;
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
      return schema === undefined ? [] : [{ name, type: typeOf(schema), says: schema.description ?? '' }];
    });
    return [...own, ...momentsOf(made.kind)].map((flag) => ({
      ...flag,
      says: lowerFirst(flag.says).replace(/\.$/, ''),
      of: titleOf(made.kind),
    }));
  });
  return jointFields(all, makes.length, '; ').map(({ name, type, says }) => {
    const key = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return { name, key, type, help: says };
  });
}

function momentsOf({ answerTime }: MailKind): { name: string; type: FlagType; says: string }[] {
  if (answerTime?.field === undefined) return [];
  const says = 'By when: 3600 (seconds), 90s, 30m, 2h, or a date and time with its zone.';
  const names = answerTime.field === 'deadline' ? ['deadline'] : ['review-deadline', 'deadline'];
  return names.map((name) => ({ name, type: 'moment', says }));
}

function typeOf(schema: z.ZodType): FlagType {
  const { type, innerType, element } = schema.def as { type: string; innerType?: z.ZodType; element?: z.ZodType };
  if (innerType !== undefined) return typeOf(innerType);
  if (type === 'array') return element?.def.type === 'object' ? 'json' : 'list';
  return type === 'boolean' || type === 'number' ? type : 'text';
}
