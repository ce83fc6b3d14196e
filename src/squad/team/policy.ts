import { z } from 'zod';
import { readCommitPolicy } from '../../model/sprint/commit-policy.ts';
import type { CommitPolicy } from '../../model/subject-policy.ts';
import type { RoutingPolicy } from '../../model/sprint/options.ts';
import { TEAM_ROLES } from '../../model/sprint/roles.ts';
import type { Finding } from '../../text/explain-issue.ts';
import { isJsonObject, type Json } from '../../text/json.ts';
import { nearest } from '../../text/nearest.ts';
import { parseYaml, type YamlResult } from '../../text/yaml-file.ts';
import { problemError } from '../preflight/read-input.ts';

const phrasesSchema = z.array(z.string().trim().min(1).max(200)).max(50).default([]);

const roleSchema = z.strictObject({
  strengths: phrasesSchema,
  suggested_skills: phrasesSchema,
  expected_behavior: z.string().max(2000).default(''),
  should_not_handle: phrasesSchema,
});

const policySchema = z.strictObject({ roles: z.record(z.string(), roleSchema).default({}) });

const EXAMPLE = [
  'roles:',
  '  architect:',
  '    strengths: [design, interfaces]',
  '    should_not_handle: [wording of the interface]',
].join('\n');

/** The text of a `policy.yaml`. Throws `bad-input` that names file and line and says what was meant. */
export function readPolicy(text: string, path: string): RoutingPolicy {
  const source = { file: path, text, firstLine: 1, examples: { '': EXAMPLE, roles: EXAMPLE } };
  return valueOf(parseYaml(source, policySchema, (raw) => unknownRoles(raw['roles'])));
}

/** The text of a `COMMIT_POLICY.md`. Throws like `readPolicy`. */
export function requireCommitPolicy(text: string, path: string): CommitPolicy {
  return valueOf(readCommitPolicy(text, path));
}

function valueOf<T>(read: YamlResult<T>): T {
  if (read.ok) return read.value;
  throw problemError(read.problems);
}

/** A role that no step has would never be chosen, and its author would not learn why. */
function unknownRoles(roles: Json | undefined): Finding[] {
  if (!isJsonObject(roles)) return [];
  return Object.keys(roles)
    .filter((name) => !TEAM_ROLES.some((known) => known === name))
    .map((name) => {
      const close = nearest(name.replaceAll('_', '-'), TEAM_ROLES);
      const hint = close === undefined ? `the roles are ${TEAM_ROLES.join(', ')}` : `did you mean “${close}”?`;
      return { path: ['roles', name], atKey: true, message: `roles.${name} is no role of a sprint; ${hint}` };
    });
}
