import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../../support/git.ts';
import { openBench, type Bench } from './support.ts';
import { ALL } from '../../support/lane.ts';

function benchWith(sparse: readonly string[]): Bench {
  const bench = openBench();
  for (const path of ['packages/web/a.ts', 'app/[slug]/b.ts']) {
    mkdirSync(join(bench.repository, path, '..'), { recursive: true });
    bench.write(path, 'x\n');
  }
  git(bench.repository, 'add', '-A');
  git(bench.repository, 'commit', '-q', '-m', 'packages');
  bench.write('squad.yaml', `version: 1\nsparse:\n${sparse.map((one) => `  - ${JSON.stringify(one)}\n`).join('')}`);
  return bench;
}

describe('sparse', () => {
  it('is part of what defines the run', async () => {
    const { definition } = await benchWith(['packages/web/', 'app/[slug]']).run({ yes: true });
    expect(definition.sparse).toEqual(['packages/web', 'app/[slug]']);
    expect((await benchWith([]).run({ yes: true })).definition).not.toHaveProperty('sparse');
  });

  it.each([
    [
      'packages/wbe',
      /sparse: the commit [0-9a-f]{12} has no folder packages\/wbe/,
      /such as `sparse: \[packages\/web\]`/,
    ],
    ['packages/*', /has no folder packages\/\*/, /Name one that is tracked/],
    ['packages/web/a.ts', /sparse: packages\/web\/a\.ts is a file/, /Name a folder, such as packages\/web, then/],
    ['objective.md', /has no folder|is a file/, /Name /],
    ['../web', /needs a folder .* such as packages\/web/, /Correct squad\.yaml/],
    ['packages/../web', /needs a folder/, /Correct squad\.yaml/],
    ['/packages', /needs a folder/, /Correct squad\.yaml/],
    ['packages//web', /needs a folder/, /Correct squad\.yaml/],
    [String.raw`packages\web`, /needs a folder/, /Correct squad\.yaml/],
    ['', /needs a folder/, /Correct squad\.yaml/],
    ['.', /needs a folder/, /Correct squad\.yaml/],
    ['.git', /has no folder \.git/, /Name one that is tracked/],
  ])('%j is refused with file, line and example', ALL, async (path, message, next) => {
    const error: unknown = await benchWith(['packages/web', path])
      .run({ yes: true })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'bad-input', message: expect.stringMatching(/squad\.yaml:4/) });
    expect(error).toMatchObject({ message: expect.stringMatching(message), next: expect.stringMatching(next) });
  });

  it('is refused in a checkout that is sparse itself', async () => {
    const bench = benchWith(['packages/web']);
    git(bench.repository, 'sparse-checkout', 'set', 'packages/web');
    const run = bench.run({ yes: true });
    await expect(run).rejects.toMatchObject({
      message: expect.stringMatching(/squad\.yaml:\d: sparse: this checkout is sparse itself/),
      next: expect.stringContaining('git sparse-checkout disable'),
    });
  });
});
