import { addTask, failRun, finishWhenEnded, workTask, type Playbook, type ReviewPolicy } from 'agentsquad/playbook';

/**
 * One page for each goal of the objective, all written at the same time, and each reviewed by a critic. In a run:
 * `createSquad({ playbooks: { pages: createPagesPlaybook } })`, and in squad.yaml `playbook: pages`.
 */
export function createPagesPlaybook(): Playbook<readonly string[]> {
  const criteria = ['the page is true of the code'];
  const review: ReviewPolicy = { by: ['critic'], quorum: 'all', rounds: 3, criteria };
  return {
    name: 'pages',
    roles: { writer: { delivers: 'each' }, critic: { delivers: 'none', judges: true } },
    parse: ({ objective }) => ({ ok: true, input: objective.goals }),
    plan: (goals) =>
      goals.map((goal, index) => {
        const path = `docs/page-${index + 1}.md`;
        const brief = `Write ${path} for its readers, and commit it: ${goal}`;
        return addTask(
          workTask(
            { id: `page-${index + 1}`, title: `Page ${index + 1}`, role: 'writer', brief },
            { workspace: 'own', integrate: true, requires: [{ kind: 'file', path }], review },
          ),
        );
      }),
    advance: (view, event) => {
      if (event.type === 'gate-refused') return [failRun(event.problems.join('\n'))];
      return event.type === 'refused' ? [failRun(event.why)] : finishWhenEnded(view);
    },
    tools: () => [],
  };
}
