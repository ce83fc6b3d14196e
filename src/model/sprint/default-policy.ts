import type { RoutingPolicy } from './options.ts';

/** Holds where a team has no `policy.yaml`, and `squad init --playbook sprint` writes it as one. */
export const DEFAULT_POLICY: RoutingPolicy = {
  roles: {
    research: {
      strengths: ['sources outside of the repository', 'comparing approaches', 'facts about libraries and standards'],
      suggested_skills: ['web search', 'reading documentation'],
      expected_behavior:
        'Names its sources or says why there are none, and gives hints for the planning. Decides nothing.',
      should_not_handle: ['changing code', 'writing backlog items', 'commit'],
    },
    planner: {
      strengths: ['scope', 'acceptance', 'priorities', 'breaking work down'],
      suggested_skills: ['backlog', 'specification'],
      expected_behavior:
        'Derives items from milestone, kickoff, research and specification, each with an acceptance that can be checked.',
      should_not_handle: ['changing code', 'commit'],
    },
    designer: {
      strengths: ['user flows', 'wording', 'layout', 'accessibility', 'ux'],
      suggested_skills: ['interface review', 'copy'],
      expected_behavior: 'Answers the question that was asked with one recommendation and its reason.',
      should_not_handle: ['database', 'build', 'deployment', 'changing code', 'commit'],
    },
    architect: {
      strengths: ['interfaces', 'data model', 'boundaries of modules', 'performance', 'security'],
      suggested_skills: ['code reading', 'review'],
      expected_behavior: 'Gives guidance before the work and reviews it against that guidance afterwards.',
      should_not_handle: ['wording', 'layout', 'commit'],
    },
    developer: {
      strengths: ['implementation', 'tests', 'fixing'],
      suggested_skills: ['tests first', 'debugging'],
      expected_behavior: 'Builds exactly the todo, with tests, and leaves what is not part of it alone.',
      should_not_handle: ['priorities', 'acceptance', 'writing backlog items'],
    },
    qa: {
      strengths: ['verification', 'edge cases', 'regressions'],
      suggested_skills: ['running tests', 'exploratory testing'],
      expected_behavior:
        'Checks each acceptance by running something, and reopens by category where one does not hold.',
      should_not_handle: ['changing code', 'writing backlog items', 'commit'],
    },
    'version-controller': {
      strengths: ['commit', 'commit subjects'],
      suggested_skills: ['git'],
      expected_behavior: 'Commits only paths that the todo changed, with a subject by COMMIT_POLICY.md.',
      should_not_handle: ['changing code', 'planning', 'review'],
    },
  },
};
