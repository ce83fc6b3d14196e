import type { Route } from './route.ts';
import type { GithubState, Issue } from './state.ts';

/** The query by which squad reads one issue. Any other one fails, as on GitHub: with 200 and `errors`. */
export const queryRoutes: Route = (state, { path, body }) => {
  if (path !== 'graphql') return undefined;
  const { query, variables } = body as { query?: string; variables?: Record<string, unknown> };
  const asked = query ?? '';
  if (!asked.includes('lastEditedAt') || !asked.includes('LABELED_EVENT')) return undefined;
  const { owner, name, number } = variables ?? {};
  const issue = owner === state.owner && name === state.name ? state.issues.get(Number(number)) : undefined;
  if (issue !== undefined) return { status: 200, json: { data: { repository: { issue: nodeOf(state, issue) } } } };
  const errors = [{ type: 'NOT_FOUND', path: ['repository', 'issue'], message: 'Could not resolve to an Issue.' }];
  return { status: 200, json: { data: { repository: { issue: null } }, errors } };
};

function nodeOf(state: GithubState, issue: Issue) {
  const { number, title, body, labels, events } = issue;
  const set = events.filter(({ event }) => event === 'labeled').slice(-100);
  return {
    ...{ number, title, body, state: issue.state.toUpperCase(), lastEditedAt: issue.edited_at ?? null },
    url: `https://github.com/${state.owner}/${state.name}/issues/${number}`,
    labels: { nodes: labels.map((one) => ({ name: one })) },
    timelineItems: {
      nodes: set.map(({ id, created_at, actor, label }) => ({
        ...{ __typename: 'LabeledEvent', id: `LE_${id}`, createdAt: created_at },
        ...{ actor: { login: actor }, label: { name: label } },
      })),
    },
  };
}
