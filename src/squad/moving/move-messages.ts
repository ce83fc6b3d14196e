import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../model/errors.ts';
import { limitsSchema } from '../../model/limits.ts';
import { movedMarkSchema } from '../../model/moved-mark.ts';
import { runDefinitionSchema } from '../../model/run.ts';

/** Begins the one line of an answer, because a login may print lines of its own. */
export const ANSWER = 'squad-move-1 ';

const text = z.string().max(10_000);
const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** A run, as the other machine has to know it before it comes. */
const comingRunSchema = z.object({
  id: z.string().max(100),
  name: z.string().max(200),
  unfinished: z.boolean(),
  base: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** Changes with all that decides what it starts and may use. */
  hash,
  definition: runDefinitionSchema,
  limits: limitsSchema,
});
export type ComingRun = z.infer<typeof comingRunSchema>;

const agreedSchema = z.object({ run: z.string().max(100), hash });
export type Agreed = z.infer<typeof agreedSchema>;

const move = z.uuid();
const place = z.object({ id: z.string().max(100).optional(), shown: text, url: text.optional() });

/** One request of a machine that moves runs to or from this one. What belongs to it as a file follows its line. */
export const moveRequestSchema = z.discriminatedUnion('ask', [
  /** `coming`: the runs that are to come here. Absent: those of here are to go. */
  z.object({ ask: z.literal('look'), coming: z.array(comingRunSchema).optional() }),
  z.object({ ask: z.literal('pack'), move, other: place, now: z.boolean() }),
  z.object({ ask: z.literal('send'), move }),
  z.object({ ask: z.literal('take'), move, other: place, bytes: z.int().nonnegative(), agreed: z.array(agreedSchema) }),
  z.object({ ask: z.literal('commit'), move, other: place }),
  z.object({ ask: z.literal('go-back'), move }),
  z.object({ ask: z.literal('discard'), move }),
  z.object({ ask: z.literal('begin'), move, run: text.optional() }),
  z.object({ ask: z.literal('done'), move }),
]);
export type MoveRequest = z.infer<typeof moveRequestSchema>;

/** The envelope of a request: read before the rest, which another version may have changed. */
export const envelopeSchema = z.object({ squad: z.string().max(100), path: z.string().max(4096), request: z.json() });

const itemSchema = z.object({ from: text, run: text, where: text, detail: text.optional() });

const lookedSchema = z.object({
  shown: text,
  id: text.optional(),
  hasRuns: z.boolean(),
  mark: movedMarkSchema.optional(),
  /** Those of here; empty where runs are to come. */
  runs: z.array(comingRunSchema),
  /** Each needs the consent of the person for this machine. */
  items: z.array(itemSchema.extend({ from: z.string() })),
  /** Each has to be put right on this machine first. */
  problems: z.array(text),
});
export type Looked = z.infer<typeof lookedSchema>;

const packedSchema = z.object({
  bytes: z.int(),
  runs: z.array(agreedSchema),
  /** Paid turns whose work was gone already. */
  lost: z.array(z.object({ run: text, attempt: text })),
  hasCopies: z.boolean(),
  /** The id of the run whose engine it ended. Absent: there was none. */
  driven: text.optional(),
});
export type PackedRuns = z.infer<typeof packedSchema>;

const takenSchema = z.object({ id: text });

const begunSchema = z.object({
  /** Absent: there is none to continue. */
  run: text.optional(),
  /** An engine has it. */
  began: z.boolean(),
  /** Why none has. */
  problem: text.optional(),
});
export type Begun = z.infer<typeof begunSchema>;

/** The answer to each request. */
export const ANSWERS = {
  look: lookedSchema,
  pack: packedSchema,
  send: z.object({ bytes: z.int() }),
  take: takenSchema,
  commit: z.object({}),
  'go-back': z.object({}),
  discard: z.object({}),
  begin: begunSchema,
  done: z.object({}),
} as const satisfies Record<MoveRequest['ask'], z.ZodType>;
export type MoveAnswer<Ask extends MoveRequest['ask']> = z.infer<(typeof ANSWERS)[Ask]>;

const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];
export const failedSchema = z.object({
  failed: z.object({ code: z.enum(codes), message: text, next: text.optional() }),
});
