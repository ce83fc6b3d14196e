// An application that runs squad with a runtime and a playbook of its own:
//   node embed.ts <repository> <agent program> <script of the agent>
import { createSquad, isSquadError } from 'agentsquad';
import { createMyRuntime } from './forty-line-runtime.ts';
import { createPagesPlaybook } from './thirty-line-playbook.ts';

const [cwd = '.', program = '', script = ''] = process.argv.slice(2);

const text = `# Objective: Explain the parts

## Goals

1. Explain the engine
2. Explain the ledger

## Success criteria

- [ ] Both pages are there (run: \`test -s docs/page-1.md && test -s docs/page-2.md\`)
`;

try {
  const squad = createSquad({
    cwd,
    runtimes: { mine: (settings, ports) => createMyRuntime({ ...settings, config: { program, script } }, ports) },
    playbooks: { pages: createPagesPlaybook },
  });
  // With an id of its own, the application can be started again at any time: it continues this run.
  const run = await squad.run({ text }, { runtime: 'mine', playbook: 'pages', trust: 'yes', id: 'explain' });
  const end = await run.done;
  const { tasks } = await squad.status(run.runId);
  console.log(JSON.stringify({ ...end, tasks: tasks.map(({ id, status }) => `${id}: ${status}`) }));
} catch (error) {
  if (!isSquadError(error)) throw error;
  console.error(`${error.message}\n${error.next ?? ''}`);
  process.exitCode = error.exitCode;
}
