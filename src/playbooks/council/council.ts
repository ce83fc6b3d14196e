import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import { addressOf } from '../../model/mail/address.ts';
import { minutesSchema } from '../../model/limits.ts';
import type { PlaybookSource } from '../../model/plan.ts';
import { filePathSchema } from '../../model/settings-text.ts';
import type { SettingsSection } from '../../model/settings.ts';

/** A member and its address in messages. */
export interface Seat {
  readonly agent: string;
  readonly address: string;
  /** false: it edits files, and the engine commits. */
  readonly commits: boolean;
}

/** Its members, its document and its limits. */
export interface Council {
  readonly main: Seat;
  readonly members: readonly Seat[];
  /** The document that the council reviews and improves. */
  readonly document: string;
  /** false: there is no document yet. The members review the code, and MAIN writes the document. */
  readonly ofDocument: boolean;
  /** Code that the objective names. */
  readonly codePaths: readonly string[];
  readonly rounds: number;
  readonly reviewMs: number;
  readonly assignMs: number;
}

export type CouncilSource = Pick<PlaybookSource, 'objective' | 'options'> & {
  readonly roster: readonly { readonly name: string; readonly role: string; readonly commits: boolean }[];
};

const MINUTE_MS = 60_000;

const sectionSchema = z.strictObject({
  /** The document that it reviews and improves; absent: the first Markdown file that the objective names. */
  document: filePathSchema.optional(),
  reviewMinutes: minutesSchema.optional(),
  /** The longest deadline of assigned work, and its own where MAIN names none. */
  assignMinutes: minutesSchema.optional(),
});

export const COUNCIL_SETTINGS: SettingsSection = {
  schema: sectionSchema,
  example: 'council: { document: docs/design.md, reviewMinutes: 60, assignMinutes: 240 }',
};

export function sectionOf(section: unknown): z.infer<typeof sectionSchema> {
  return sectionSchema.parse(section ?? {});
}

const optionsSchema = z.object({
  document: z.string().optional(),
  reviewRounds: z.number().int().min(1).max(20).default(4),
  reviewMinutes: z.number().positive().default(60),
  assignMinutes: z.number().positive().default(240),
});

/** The document that MAIN writes if the objective names none. */
const NOTES = 'docs/council.md';
const MOST_PATHS = 20;

/** `assignMinutes`, the time limit of every assignment, by tool or in the answer. */
export function longestAssignmentMs(options: Json): number | undefined {
  const settings = optionsSchema.safeParse(options ?? {}).data;
  return settings === undefined ? undefined : Math.ceil(settings.assignMinutes * MINUTE_MS);
}

/** The council of a run, or everything that is missing for one. */
export function councilOf(source: CouncilSource): Council | readonly string[] {
  const { objective, roster, options } = source;
  const settings = optionsSchema.safeParse(options ?? {});
  const seats = (role: string): Seat[] => roster.filter((agent) => agent.role === role).map((agent) => seatOf(agent));
  const [main, ...rest] = seats('main');
  const members = seats('member');
  const errors = [
    ...(settings.success ? [] : settings.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)),
    ...(main === undefined || rest.length > 0 ? ['council needs one agent with the role main'] : []),
    ...(members.length === 0 ? ['council needs at least one agent with the role member'] : []),
  ];
  if (main === undefined || !settings.success || errors.length > 0) return errors;
  const { document, reviewRounds, reviewMinutes, assignMinutes } = settings.data;
  const named = document ?? documentIn(objective.text);
  return {
    main,
    members,
    document: named ?? NOTES,
    ofDocument: named !== undefined,
    codePaths: codePathsIn(objective.text).filter((path) => path !== named),
    rounds: reviewRounds,
    reviewMs: reviewMinutes * MINUTE_MS,
    assignMs: assignMinutes * MINUTE_MS,
  };
}

function seatOf(agent: CouncilSource['roster'][number]): Seat {
  return { agent: agent.name, address: addressOf(agent), commits: agent.commits };
}

/** The first Markdown file that a text names by its path in the repository. Web addresses and paths outside do not count. */
function documentIn(text: string): string | undefined {
  return /(?<![\w./:-])(?:\.\/)?((?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.md)(?![\w/-])/.exec(text)?.[1];
}

/** Files and folders in backticks. */
function codePathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`(?:\.\/)?([\w@-][\w.@-]*(?:\/[\w@-][\w.@-]*)*\/?)`/g)].flatMap(
    ([, path]) => path ?? [],
  );
  return [...new Set(quoted.filter((path) => /\/|\.[a-z]\w{0,5}$/.test(path)))].slice(0, MOST_PATHS);
}
