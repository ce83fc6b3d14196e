import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI_ENTRY } from '../../../test/support/cli-entry.ts';
import { ALL_FIXED, finding } from '../../../test/support/findings.ts';
import type { Room } from './room.ts';
import { CAP_USD, type Situation } from './situations.ts';
import { PIECES, type Piece, type Tool } from './tool.ts';

const BRANCH = 'squad/make-both-pieces';
const PROGRAM = [process.execPath, CLI_ENTRY];

interface Status {
  readonly headline?: string | null;
  readonly state?: string;
  readonly exitCode?: number | null;
}

/** The playbook `delivery` with a planner, two builders and a reviewer; all limits as they are by default. */
export function squad(): Tool {
  const review = (piece: string): string => `# Review of task ${piece}`;
  const build = (piece: string): string => `([Tt]ask ${piece}:|[Tt]ask ${piece} (is|was|needs))`;
  return {
    ...{ name: 'squad', version: versionOf(), commitsItself: false },
    prompts: {
      plan: 'Split this objective',
      review: { left: review('left'), right: review('right') },
      build: { left: build('left'), right: build('right') },
      conflict: 'cannot be merged',
    },
    own: () => [],
    plan: { summary: 'both pieces side by side', tasks: PIECES.map(pieceOf) },
    verdict: (_, approved) => ({
      structured: {
        ...{ approved, summary: approved ? 'good' : 'not yet' },
        findings: approved ? [] : [finding('It is too plain')],
        settled: ALL_FIXED,
      },
    }),
    prepare: (room, situation) => prepare(room, situation),
    run: [...PROGRAM, 'run', 'objective.md', '--yes'],
    goOn: (_, { name }) => goOn(name),
    deliver: () => [[...PROGRAM, 'merge']],
    kill: { in: 'deliver', merge: 1 },
    branches: () => [BRANCH, 'main'],
    claim: async (room, output) => {
      const { output: text } = await room.run([...PROGRAM, 'status', '--json'], 30);
      const { headline, exitCode } = statusOf(text);
      const last = output.split('\n').findLast((line) => /^[A-Z]{4,}[ ,]/.test(line)) ?? '';
      return { done: exitCode === 0, words: headline ?? last };
    },
    lacks: {},
  };
}

/** What its last lines tell a person to do. */
function goOn(name: Situation['name']): ReturnType<Tool['goOn']> {
  const before: Partial<Record<typeof name, readonly string[]>> = {
    'login-expired': ['answer', 'engine/auth/claude', 'try again'],
    'never-agrees': ['retry', 'right'],
    'did-nothing': ['retry', 'right'],
  };
  const first = before[name] ?? [];
  const resume = ['resume', ...(name === 'cost-cap' ? ['--max-usd', '20'] : [])];
  return {
    words: [...(first.length === 0 ? [] : [`\`squad ${first.join(' ')}\``]), `\`squad ${resume.join(' ')}\``].join(
      ', ',
    ),
    commands: [...(first.length === 0 ? [] : [[...PROGRAM, ...first]]), [...PROGRAM, ...resume, '--yes']],
  };
}

function statusOf(text: string): Status {
  try {
    return JSON.parse(text) as Status;
  } catch {
    // There is no run: its own words stand for it.
    return {};
  }
}

function prepare({ repository, agent }: Room, situation: Situation): void {
  const member = (name: string, role: string, access: string) => ({ name, role, access, runtime: 'claude' });
  const settings = {
    version: 1,
    agents: [
      member('planner', 'planner', 'read-only'),
      ...[1, 2].map((number) => member(`builder-${number}`, 'builder', 'edit')),
      member('reviewer', 'reviewer', 'read-only'),
    ],
    runtimes: { claude: { command: agent.path('claude'), env: ['ANTHROPIC_API_KEY'] } },
    ...(situation.name === 'cost-cap' ? { limits: { usd: CAP_USD } } : {}),
  };
  // JSON is YAML too.
  writeFileSync(join(repository, 'squad.yaml'), JSON.stringify(settings, null, 2));
  const check = situation.name === 'same-lines' ? "grep -q 'left and right' shared.txt" : 'cat left.txt right.txt';
  writeFileSync(
    join(repository, 'objective.md'),
    `# Make both pieces\n\n## Goals\n- Both pieces are there\n\n## Success criteria\n- They are (run: \`${check}\`)\n`,
  );
}

function pieceOf(id: Piece): object {
  return {
    id,
    title: `Make ${id}`,
    role: 'builder',
    needs: [],
    brief: `Make the piece ${id}.`,
    acceptance: [`${id} is there`],
  };
}

function versionOf(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
