import { z } from 'zod';
import { isSlug } from '../../model/slug.ts';
import { quotedName } from '../../text/plain-text.ts';

const phaseSchema = z.object({ title: z.string(), steps: z.array(z.string()) });

/** The planner's answer: the whole session but for what squad knows itself. No field is optional, as strict structured output asks. */
export const teamSchema = z.object({
  capabilities: z.array(z.object({ name: z.string(), description: z.string(), artifact_type: z.string() })),
  roles: z.array(
    z.object({
      name: z.string(),
      prefix: z.string(),
      responsibility_type: z.string(),
      inner_loop: z.boolean(),
      identity: z.string(),
      must: z.array(z.string()),
      must_not: z.array(z.string()),
      phases: z.array(phaseSchema),
    }),
  ),
  tasks: z.array(z.object({ id: z.string(), subject: z.string(), owner: z.string(), blockedBy: z.array(z.string()) })),
  complexity_score: z.number(),
});
export type Team = z.infer<typeof teamSchema>;
export type TeamRole = Team['roles'][number];

export const PHASES = 5;
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
