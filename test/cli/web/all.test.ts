// @module-tag all
import { expect, it, onTestFinished } from 'vitest';
import { createRepository } from '../../support/git.ts';
import { join } from 'node:path';
import { copyFileSync } from 'node:fs';
import { openWebBench } from './web-bench.ts';

it(
  'squad watch --web --all serves the runs of all repositories, and each is steered by its own',
  { timeout: 120_000 },
  async () => {
    const bench = openWebBench();
    onTestFinished(() => bench.end());
    const other = createRepository(join(bench.root, 'other'), {});
    for (const name of ['squad.yaml', 'objective.md']) copyFileSync(join(bench.repository, name), join(other, name));
    const run = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--json'];
    expect((await bench.run([...run, '--name', 'one'])).code).toBe(3);
    expect((await bench.run([...run, '--name', 'two'])).code).toBe(3);
    expect((await bench.start([...run, '--name', 'three'], {}, [], other).finished).code).toBe(3);

    const web = await bench.serve('--all');
    const list = await web.get('');
    expect(list.text).toMatch(/>other<[^]*three[^]*>repository<[^]*two[^]*one/);
    expect(list.text).toContain('Waiting for your answer: three, two, one.');
    const links = [...list.text.matchAll(/href="([^"]+\/[^"]+\/)">(\w+)</g)].map(([, path = '', name = '']) => [
      name,
      path,
    ]);
    const paths = Object.fromEntries(links) as Record<string, string>;
    expect(Object.keys(paths)).toEqual(['three', 'two', 'one']);

    const stop = async (name: string) =>
      web.post(`${paths[name]}answer`, { key: `answer-${name}`, question: 'plan-1', answer: 'stop' });
    expect(await stop('three')).toMatchObject({
      status: 200,
      text: expect.stringContaining('squad resume three') as string,
    });
    expect(await stop('one')).toMatchObject({ status: 200 });
    expect((await web.get(paths['two'] ?? '')).text).toContain('value="approve"');
    expect((await web.get(paths['three'] ?? '')).text).not.toContain('value="approve"');

    // The id of a run leads nowhere in another repository, and neither does one that is not served.
    const [, id = ''] = (paths['three'] ?? '').split('/');
    const [own = ''] = (paths['one'] ?? '').split('/');
    expect(await web.get(`${own}/${id}/`)).toMatchObject({
      status: 422,
      text: expect.stringContaining('Next: ') as string,
    });
    expect(await web.get(`other-0000000000000000/${id}/`)).toMatchObject({ status: 422 });
    expect(await web.get('strange')).toMatchObject({ status: 404 });
  },
);
