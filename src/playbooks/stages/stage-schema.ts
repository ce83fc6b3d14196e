import { z } from 'zod';
import { commandSchema, slugSchema } from '../../model/settings-text.ts';
import { defined } from '../../text/defined.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { nearest } from '../../text/nearest.ts';
import { plainText } from '../../text/plain-text.ts';
import type { Stage, StageList, StageRequirement } from './stage-list.ts';

export const MOST_STAGES = 100;

/** For editors: squad itself says what is missing. */
const NOT_EMPTY = { minItems: 1 };

const idSchema = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,31}$/,
    'needs letters, digits, “_” and “-”, starting with a letter, at most 32 characters, such as SPEC_REVIEW',
  );

/** Text for people and agents must not hide anything. */
const isPlain = (text: string): boolean => plainText(text) === text;
const HIDES = 'holds invisible characters; it is shown to people, so everything in it must be visible';

function meant(input: unknown, words: readonly string[]): string {
  const close = typeof input === 'string' ? nearest(input, words) : undefined;
  return close === undefined ? '' : `; did you mean “${close}”?`;
}

const lineSchema = z
  .string()
  .max(100)
  .regex(/^\S(?:[^\n\t]*\S)?$/, 'needs one line of words, without spaces around it')
  .refine(isPlain, HIDES);

const documentSchema = z
  .string()
  .regex(
    /^(?!.*(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$))[^\u0000-\u001f\\:*?"<>|[\]{}]{1,200}$/i,
    'needs a path in the documents’ folder, such as spec.md, without “.”, “..”, “.git”, “*” and the like',
  )
  .refine(isPlain, HIDES);

const headingSchema = lineSchema
  .refine((text) => !text.startsWith('#'), 'needs the words of the heading alone, without “#”')
  .refine((text) => text === '' || /[\p{L}\p{N}]/u.test(text), 'is no heading: it has neither letter nor digit');

const rolesSchema = z
  .array(slugSchema)
  .max(16)
  .refine((roles) => roles.length > 0, 'names no role')
  .meta(NOT_EMPTY);

const roundsSchema = z.int().positive().max(20);

const ANSWERS = ['tasks', 'verdict'] as const;

const answerSchema = z.union([z.enum(ANSWERS), z.record(z.string(), jsonSchema)], {
  error: ({ input }) =>
    `is neither \`tasks\` nor \`verdict\` nor a mapping that is a JSON Schema${meant(input, ANSWERS)}`,
});

const checksSchema = z.union(
  [
    z.literal('criteria'),
    z
      .array(commandSchema)
      .max(50)
      .refine((list) => list.length > 0, 'names no command')
      .meta(NOT_EMPTY),
  ],
  { error: ({ input }) => `is neither \`criteria\` nor a list of commands${meant(input, ['criteria'])}` },
);

const KINDS = ['document', 'documents', 'code', 'answer', 'checks', 'removes', 'commit', 'approval'] as const;

const makesFields = z
  .strictObject({
    document: documentSchema.exactOptional(),
    documents: z
      .array(documentSchema)
      .max(20)
      .refine((paths) => paths.length > 1, 'names fewer than two documents; write `document: PATH`')
      .meta({ minItems: 2 })
      .exactOptional(),
    headings: z.array(headingSchema).min(1).max(50).exactOptional(),
    code: z.literal(true).exactOptional(),
    answer: answerSchema.exactOptional(),
    checks: checksSchema.exactOptional(),
    removes: z.literal('documents').exactOptional(),
    commit: z.literal(true).exactOptional(),
    approval: z.literal(true).exactOptional(),
  })
  .meta({ minProperties: 1 });
type MakesFields = z.infer<typeof makesFields>;

const makesSchema = z
  .union([z.literal('code'), makesFields], {
    error: ({ input }) => `is neither \`code\` nor a mapping that says what the stage makes${meant(input, ['code'])}`,
  })
  .transform((written, context): Stage['makes'] => {
    const makes = written === 'code' ? { code: true as const } : written;
    const problem = makesProblem(makes);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    return madeOf(makes);
  });

/** One key says what the stage makes. A document has headings besides, and may come with an answer that plans tasks. */
function makesProblem(makes: MakesFields): string | undefined {
  const { document, headings, answer } = makes;
  const kinds = KINDS.filter((key) => makes[key] !== undefined);
  if (kinds.length === 0) return `makes nothing; it takes one of ${KINDS.map((key) => `\`${key}\``).join(', ')}`;
  if (headings !== undefined && document === undefined) return 'has `headings`, and no `document` to have them';
  if (document === undefined || kinds.some((key) => key !== 'document' && key !== 'answer'))
    return kinds.length === 1 ? undefined : `makes ${kinds.join(' and ')}; write a stage for each`;
  return answer === undefined || answer === 'tasks'
    ? undefined
    : 'has a `document`, which only `answer: tasks` may go with';
}

function madeOf(makes: MakesFields): Stage['makes'] {
  const { document, documents, headings, answer, checks, removes, commit, approval } = makes;
  if (document !== undefined) {
    return { document, ...defined({ headings }), ...(answer === 'tasks' ? { answer } : {}) };
  }
  if (documents !== undefined) return { documents };
  if (answer !== undefined) return { answer };
  if (checks !== undefined) return { checks };
  if (commit !== undefined) return { commit };
  if (approval !== undefined) return { approval };
  return removes === undefined ? { code: true } : { removes };
}

const pathSchema = z
  .string()
  .regex(
    /^(?!.*(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$))[^\u0000-\u001f\\:?"<>|[\]{}]{1,200}$/i,
    'needs a path in the repository, such as docs/spec.md, without “.”, “..”, “.git” and the like',
  )
  .refine(isPlain, HIDES);

const REQUIREMENTS = ['only', 'file', 'pr'] as const;

const requirementSchema = z
  .strictObject({
    only: z
      .array(pathSchema)
      .max(50)
      .refine((paths) => paths.length > 0, 'names no path')
      .meta(NOT_EMPTY)
      .exactOptional(),
    file: pathSchema.refine((path) => !path.includes('*'), 'names one file, without “*”').exactOptional(),
    pr: z.literal(true).exactOptional(),
  })
  .meta({ minProperties: 1, maxProperties: 1 })
  .transform(({ only, file, pr }, context): StageRequirement => {
    if (only !== undefined && file === undefined && pr === undefined) return { only };
    if (file !== undefined && only === undefined && pr === undefined) return { file };
    if (pr !== undefined && only === undefined && file === undefined) return { pr };
    context.addIssue({
      code: 'custom',
      message: `takes one of ${REQUIREMENTS.map((key) => `\`${key}\``).join(', ')}; write an entry for each`,
    });
    return z.NEVER;
  });

const WAYS = ['author', 'block'] as const;

const reopensSchema = z
  .record(
    z.string(),
    z.union([z.enum(WAYS), z.strictObject({ stage: idSchema })], {
      error: ({ input }) => `is neither \`author\` nor \`block\` nor \`{ stage: STAGE }\`${meant(input, WAYS)}`,
    }),
  )
  .refine((ways) => Object.keys(ways).length > 0, 'names no category')
  .refine((ways) => Object.keys(ways).length <= 20, 'names more than 20 categories')
  .refine(
    (ways) => Object.keys(ways).every((name) => slugSchema.safeParse(name).success),
    'has a category that is no word of lower-case letters, digits and dashes',
  )
  .meta({ minProperties: 1, maxProperties: 20 });

const reviewSchema = z.strictObject({
  id: idSchema,
  by: rolesSchema,
  quorum: z.enum(['all', 'any']).exactOptional(),
  rounds: roundsSchema.exactOptional(),
  session: z.strictObject({ of: idSchema }).exactOptional(),
  reopens: reopensSchema.exactOptional(),
});

const reviewsSchema = z.union([
  reviewSchema,
  z
    .array(reviewSchema)
    .max(10)
    .refine((reviews) => reviews.length > 0, 'names no review')
    .meta(NOT_EMPTY),
]);

const elseSchema = z
  .strictObject({ redo: idSchema.exactOptional(), fix: idSchema.exactOptional() })
  .meta({ minProperties: 1, maxProperties: 1 })
  .transform(({ redo, fix }, context) => {
    if (redo !== undefined && fix === undefined) return { redo };
    if (fix !== undefined && redo === undefined) return { fix };
    context.addIssue({ code: 'custom', message: 'takes either `redo` or `fix`, with the id of a stage' });
    return z.NEVER;
  });

const stageSchema = z.strictObject({
  id: idSchema,
  title: lineSchema.exactOptional(),
  by: rolesSchema.default([]),
  needs: z.array(idSchema).max(MOST_STAGES).exactOptional(),
  brief: z
    .string()
    .max(16_384)
    .refine((text) => text.trim() !== '', 'says nothing; say what to do')
    .refine(isPlain, HIDES),
  makes: makesSchema,
  requires: z
    .array(requirementSchema)
    .max(50)
    .refine((list) => list.length > 0, 'requires nothing')
    .meta(NOT_EMPTY)
    .exactOptional(),
  all: z.literal(true).exactOptional(),
  review: reviewsSchema.exactOptional(),
  each: z.strictObject({ of: idSchema }).exactOptional(),
  judges: z.strictObject({ rounds: roundsSchema, else: elseSchema }).exactOptional(),
  session: z
    .union([z.enum(['new', 'role']), z.strictObject({ of: idSchema })], {
      error: ({ input }) => `is neither \`new\` nor \`role\` nor \`{ of: STAGE }\`${meant(input, ['new', 'role'])}`,
    })
    .exactOptional(),
  asks: z.strictObject({ of: rolesSchema, most: z.int().positive().max(100) }).exactOptional(),
  onFail: z.enum(['stop', 'skip']).exactOptional(),
});

/** A list of stages, as `playbook` of `squad.yaml` defines one. What one key means for another is in `check-list.ts`. */
export const stageListSchema = z.strictObject({
  stages: z
    .array(stageSchema)
    .max(MOST_STAGES)
    .refine((stages) => stages.length > 0, 'has no stage')
    .meta(NOT_EMPTY),
  whenNotConverging: z.enum(['stop', 'report']).exactOptional(),
}) satisfies z.ZodType<StageList>;
