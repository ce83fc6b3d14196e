// @module-tag all
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Playbook } from '../../src/model/plan.ts';
import { addTask, finishWhenEnded, workTask } from '../../src/playbooks/shared/tasks.ts';
import type { RunEnd } from '../../src/view/running-run.ts';
import { createSquad } from '../../src/squad/squad.ts';
import { openRunBench, statusOf, type RunBench } from './run-bench.ts';
import { again, author, commits, type Entry, type Step } from './run-script.ts';

const IDS = ['empty', 'lacking', 'straying', 'bare', 'hostile'] as const;
type Id = (typeof IDS)[number];

const HEADINGS = ['Goals', 'Risks'];
const GOOD = '# Goals\n\nTo be there.\n\n# Risks\n\nNone.\n';
const pathOf = (id: Id): string => `docs/${id}.md`;

/** Documents that are written next to each other, each with a file of its own. */
function createPapersPlaybook(): Playbook<unknown> {
  return {
    name: 'papers',
    roles: { writer: { delivers: 'each' } },
    tools: () => [],
    parse: () => ({ ok: true, input: null }),
    plan: () =>
      IDS.map((id) => {
        const path = pathOf(id);
        const document = { kind: 'document', path, headings: HEADINGS } as const;
        return addTask(
          workTask(
            { id, title: id, role: 'writer', brief: `Write ${path}.` },
            {
              workspace: 'own',
              integrate: true,
              requires: [{ kind: 'commit' }, document, { kind: 'only', paths: [path] }],
            },
          ),
        );
      }),
    advance: (view) => finishWhenEnded(view),
  };
}

const writes = (id: Id, text: string): Step[] => commits({ [pathOf(id)]: text });
const removes = (path: string): Step[] => [{ run: ['git', 'rm', '--quiet', path] }];
const TITLE = '\u001b]0;owned\u0007\u001b[2J';

const SCRIPT: readonly Entry[] = [
  author('empty', writes('empty', '')),
  again('empty', 'evidence', writes('empty', GOOD)),
  author('lacking', writes('lacking', '# Goals\n\nTo be there.\n\n```\n# Risks\n```\n')),
  again('lacking', 'evidence', writes('lacking', GOOD)),
  author('straying', commits({ [pathOf('straying')]: GOOD, 'src/app.ts': 'export {};\n' })),
  again('straying', 'evidence', [...removes('src/app.ts'), ...writes('straying', `${GOOD}\nDone.\n`)]),
  author('bare', writes('bare', '# Goals\n\n# Risks\n')),
  again('bare', 'evidence', writes('bare', '# Goals\n\n<!-- to do -->\n\n# Risks\n')),
  author('hostile', [
    { run: ['sh', '-c', 'mkdir -p docs && head -c 1048576 /dev/zero | tr "\\0" "#" > docs/hostile.md'] },
    ...commits({}),
  ]),
  again('hostile', 'evidence', writes('hostile', `${TITLE}# ${TITLE}\n${'> '.repeat(20_000)}\n`)),
];

describe('a document that is not what its task asks for', () => {
  let bench: RunBench;
  let end: RunEnd;
  let prompts: ReadonlyMap<string, readonly string[]>;
  let shown: string;
  beforeAll(async () => {
    bench = openRunBench({ script: SCRIPT });
    const { repository, root } = bench;
    const written = JSON.parse(readFileSync(join(repository, 'squad.yaml'), 'utf8')) as object;
    writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ ...written, playbook: 'papers' }));
    const environment = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') };
    const squad = createSquad({ cwd: repository, environment, playbooks: { papers: createPapersPlaybook } });
    end = await (await squad.run('objective.md', { runtime: 'scripted', trust: 'yes' })).done;
    const ledger = bench.ledger();
    const turns = ledger.attempts({ runId: end.runId }).filter(({ kind }) => kind === 'turn');
    prompts = new Map([...Map.groupBy(turns, ({ taskId }) => taskId)].map(([id, own]) => [id, own.map(promptOf)]));
    ledger.close();
    const [status, report, log] = await Promise.all([bench.run(['status']), bench.run(['report']), bench.run(['log'])]);
    shown = [status, report, log].map(({ stdout, stderr }) => stdout + stderr).join('');
  }, 120_000);
  afterAll(() => bench.end());

  it.each<[Id, readonly string[]]>([
    [
      'empty',
      [
        'docs/empty.md: the document is empty',
        'docs/empty.md: the heading “Goals” is missing',
        'docs/empty.md: the heading “Risks” is missing',
      ],
    ],
    ['lacking', ['docs/lacking.md: the heading “Risks” is missing']],
    ['straying', ['only docs/straying.md may change, but these files did: src/app.ts']],
  ])('goes back to its author once: %s', async (id, reasons) => {
    const [brief = '', again = '', ...more] = prompts.get(id) ?? [];
    expect(brief).toContain(`- docs/${id}.md is a Markdown document with these headings in this order`);
    expect(again).toContain(`You said that task ${id} is done. squad checked, and this is missing:`);
    for (const reason of reasons) expect(again).toContain(reason);
    expect(more).toEqual([]);
    expect(statusOf(await bench.status(), id)).toBe('done');
    expect(bench.fileOnBranch(pathOf(id))).toContain('# Risks');
    expect(bench.fileOnBranch('src/app.ts')).toBeUndefined();
  });

  it.each<[Id, string, string]>([
    [
      'bare',
      'docs/bare.md: the document has no text besides headings and comments',
      'docs/bare.md: the heading “Goals” has no text of its own below it',
    ],
    [
      'hostile',
      'docs/hostile.md: the document is larger than 256 KiB; shorten it',
      'docs/hostile.md: the heading “Goals” is missing',
    ],
  ])('fails the second time, with the reason: %s', async (id, first, second) => {
    const [, again = '', ...more] = prompts.get(id) ?? [];
    expect(again).toContain(first);
    expect(more).toEqual([]);
    const status = await bench.status();
    expect(statusOf(status, id)).toBe('failed');
    const failure = status.failures.find(({ task }) => task === id);
    expect(failure?.why).toContain(second);
    expect(bench.fileOnBranch(pathOf(id))).toBeUndefined();
  });

  it('ends the run as failed, and shows nothing that the documents hold', () => {
    expect(end).toMatchObject({ outcome: 'failed', exitCode: 1 });
    expect(end.headline).toContain('docs/bare.md');
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|owned/);
  });
});

function promptOf({ request }: { readonly request: string }): string {
  return (JSON.parse(request) as { prompt: string }).prompt;
}
