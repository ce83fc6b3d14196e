import { z } from 'zod';

/** Rights of one who writes. `control`: cancels, starts and stops sprints, runs actions. */
export const RIGHTS = ['ask', 'request', 'control', 'answer'] as const;
export type Right = (typeof RIGHTS)[number];

const short = z.string().min(1).max(200);
const long = z
  .string()
  .min(1)
  .max(64 * 1024);

/** All that a text can mean. There is nothing else that a message could do. */
export const intentSchema = z.discriminatedUnion('verb', [
  z.strictObject({ verb: z.literal('request'), text: long }),
  /** `about`: a request, an item, a sprint or a run; absent: all of it. */
  z.strictObject({ verb: z.literal('status'), about: short.optional() }),
  z.strictObject({ verb: z.literal('cancel'), request: short }),
  z.strictObject({ verb: z.literal('sprint-start'), milestone: z.string().min(1).max(2_000) }),
  /** `now`: ends what is at work, too. */
  z.strictObject({ verb: z.literal('sprint-stop'), now: z.boolean() }),
  z.strictObject({ verb: z.literal('sprint-status') }),
  z.strictObject({ verb: z.literal('action'), name: short, args: z.array(short).max(20) }),
  /** `run`: the name of the run that asks; absent: the only one that does. */
  z.strictObject({ verb: z.literal('answer'), run: short.optional(), text: z.string().min(1).max(4_000) }),
  /** Asks for nothing of these. `reply`: for its sender. */
  z.strictObject({ verb: z.literal('none'), reply: z.string().max(2_000) }),
]);
export type Intent = z.infer<typeof intentSchema>;
export type Verb = Intent['verb'];

export const VERBS = [
  ...([
    'request',
    'status',
    'cancel',
    'sprint-start',
    'sprint-stop',
    'sprint-status',
    'action',
    'answer',
    'none',
  ] as const),
] as const satisfies readonly Verb[];

const NEEDS: Readonly<Record<Verb, Right>> = {
  request: 'request',
  status: 'ask',
  cancel: 'control',
  'sprint-start': 'control',
  'sprint-stop': 'control',
  'sprint-status': 'ask',
  action: 'control',
  answer: 'answer',
  none: 'ask',
};

export function mayUse(rights: readonly Right[], verb: Verb): boolean {
  return rights.includes(NEEDS[verb]);
}

/** Whether its sender has to say yes, where a model has read this out of free text. */
export function needsYes(verb: Verb): boolean {
  return NEEDS[verb] === 'control';
}
