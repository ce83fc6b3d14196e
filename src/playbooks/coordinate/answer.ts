import { z } from 'zod';
import { isSlug } from '../../model/slug.ts';
import { quotedName } from '../../text/plain-text.ts';

const PHASES = 5;

const sentences = (what: string): z.ZodArray<z.ZodString> =>
  z.array(z.string()).describe(`${what}, one sentence each, at least one`);

/** The planner's answer: the whole session but for what squad knows itself. No field is optional, as strict structured output asks. */
export const teamSchema = z.object({
  capabilities: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().describe('a sentence'),
        artifact_type: z.string().describe('such as code, tests, report or documentation'),
      }),
    )
    .describe('what the work needs'),
  roles: z
    .array(
      z.object({
        name: z.string().describe('lower-case letters, digits and dashes, at most 32 characters, such as spec-writer'),
        prefix: z.string().describe('how the ids of its tasks begin: upper-case letters and digits, such as SPEC'),
        responsibility_type: z
          .string()
          .describe(
            '`read-only` changes no file; `code-gen` must change files; `code-gen (docs)` and `validation` may',
          ),
        inner_loop: z
          .boolean()
          .describe(
            'true: one agent does all its tasks, one after the other, in one conversation; false: each task begins anew',
          ),
        identity: z.string().describe('who it is and what it is responsible for, in a few sentences'),
        must: sentences('what it does'),
        must_not: sentences('what it leaves alone'),
        phases: z
          .array(z.object({ title: z.string(), steps: z.array(z.string()).describe('one sentence each') }))
          .describe(`exactly ${PHASES}, in order, such as understand, plan, work, check, report`),
      }),
    )
    .describe('who does it; each gets a role file'),
  tasks: z
    .array(
      z.object({
        id: z.string().describe('its own, such as SPEC-001'),
        subject: z.string().describe('what to do and with what result, in one or two sentences'),
        owner: z.string().describe('the `name` of its role'),
        blockedBy: z.array(z.string()).describe('ids of the tasks that have to be done before it; never in a circle'),
      }),
    )
    .describe('at least one'),
  complexity_score: z.number().describe('how much work it is, 1 for the smallest'),
});
export type Team = z.infer<typeof teamSchema>;
export type TeamRole = Team['roles'][number];

const LONGEST_SUBJECT = 1000;
const LONGEST_TEXT = 2000;
/** Characters. Even in UTF-8 and escaped, such a role fits the limit of an agent's instructions. */
const LONGEST_ROLE = 15_000;
const PREFIX = /^[A-Z][A-Z0-9]{0,15}$/;

/** Problems beyond the answer's schema and the rules of a session folder. `known`: role names that squad did not choose. */
export function teamProblems({ capabilities, roles, tasks }: Team, known: ReadonlySet<string>): string[] {
  return [
    ...(capabilities.length === 0 ? ['there is no capability'] : []),
    ...roles.flatMap((role) => roleProblems(role, known)),
    ...tasks.flatMap(({ id, subject }) => [
      ...(subject.trim() === '' ? [`task ${quotedName(id)}: it needs a subject`] : []),
      ...(subject.length > LONGEST_SUBJECT
        ? [`task ${quotedName(id)}: its subject has more than ${LONGEST_SUBJECT} characters`]
        : []),
    ]),
  ];
}

function roleProblems(role: TeamRole, known: ReadonlySet<string>): string[] {
  const { name, prefix, identity, must, must_not: mustNot, phases } = role;
  const where = `role ${quotedName(name)}`;
  const texts = [identity, ...must, ...mustNot, ...phases.flatMap(({ title, steps }) => [title, ...steps])];
  return [
    ...(isSlug(name) || known.has(name)
      ? []
      : [
          `${where}: the name must be lower-case letters, digits and dashes, starting with a letter, at most 32 characters`,
        ]),
    ...(PREFIX.test(prefix) || known.has(name)
      ? []
      : [`${where}: the prefix must be upper-case letters and digits, starting with a letter, at most 16 characters`]),
    ...(identity.trim() === '' ? [`${where}: it needs an identity`] : []),
    ...(must.length === 0 || mustNot.length === 0 ? [`${where}: it needs entries in both must and must_not`] : []),
    ...(phases.length === PHASES && phases.every(({ steps }) => steps.length > 0)
      ? []
      : [`${where}: it needs ${PHASES} phases, each with its steps`]),
    ...(texts.slice(1).some((text) => text.trim() === '') ? [`${where}: one of its texts is empty`] : []),
    ...(texts.join('').length > LONGEST_ROLE
      ? [`${where}: its texts have more than ${LONGEST_ROLE} characters together`]
      : []),
    ...(texts.some((text) => text.length > LONGEST_TEXT)
      ? [`${where}: one of its texts has more than ${LONGEST_TEXT} characters`]
      : []),
  ];
}
