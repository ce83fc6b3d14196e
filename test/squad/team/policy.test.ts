import { expect, it } from 'vitest';
import { readPolicy, requireCommitPolicy } from '../../../src/squad/team/policy.ts';

it('reads what a policy says, and fills in the rest', () => {
  const text = 'roles:\n  designer: { strengths: [layout], should_not_handle: [database] }\n  version-controller: {}\n';
  const none = { strengths: [], suggested_skills: [], expected_behavior: '', should_not_handle: [] };
  expect(readPolicy(text, 'policy.yaml')).toEqual({
    roles: {
      designer: { ...none, strengths: ['layout'], should_not_handle: ['database'] },
      'version-controller': none,
    },
  });
  expect(readPolicy('', 'policy.yaml')).toEqual({ roles: {} });
});

it.each([
  ['roles:\n  desinger: {}\n', 'policy.yaml:2:3: roles.desinger is no role of a sprint; did you mean “designer”?'],
  ['roles:\n  version_controller: {}\n', 'did you mean “version-controller”?'],
  ['roles:\n  ceo: {}\n', 'the roles are research, planner,'],
  ['roles:\n  qa: { strenghts: [tests] }\n', 'policy.yaml:2:9: unknown key “strenghts” in roles.qa; did you mean'],
  ['roles:\n  qa: { strengths: tests }\n', 'policy.yaml:2:20: roles.qa.strengths must be a list, not'],
  ['roles:\n  qa: { strengths: [""] }\n', 'policy.yaml:2:21: roles.qa.strengths[0] is empty'],
  ['role: {}\n', 'policy.yaml:1:1: unknown key “role”; did you mean “roles”?'],
  ['- qa\n', 'must contain settings by name'],
])('%j is one error with its place', (text, message) => {
  const read = (): unknown => readPolicy(text, 'policy.yaml');
  expect(read).toThrow(message);
  expect(read).toThrow(
    expect.objectContaining({ code: 'bad-input', next: expect.stringContaining('policy.yaml') as string }),
  );
});

it('has a policy for commits without a block', () => {
  expect(requireCommitPolicy('# Commits\n', 'COMMIT_POLICY.md')).toMatchObject({ longest: 72, begins: 'anything' });
  expect(() => requireCommitPolicy('```commit-policy\nlongest: no\n```\n', 'a/COMMIT_POLICY.md')).toThrow(
    'a/COMMIT_POLICY.md:2:10: longest must be',
  );
});
