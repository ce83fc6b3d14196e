import { readFileSync } from 'node:fs';
import { END, START } from '@langchain/langgraph';
import { expect, it } from 'vitest';
import { createRunGraph } from '../../src/graph/graph.ts';
import type { GraphPorts } from '../../src/graph/ports.ts';

it('is the graph that ARCHITECTURE.md draws', async () => {
  const text = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');
  const drawing = /## The graph\n\n```\n([^]*?)```/.exec(text)?.[1] ?? '';
  const drawn = drawing.split('\n').flatMap((line) => {
    const [nodes = ''] = line.split(/ {2,}/);
    const names = nodes.split(' → ').map((name) => (name === 'START' ? START : name === 'END' ? END : name));
    return names.slice(1).map((name, index) => `${names[index]} → ${name}`);
  });
  // Nothing of these is called: the graph is only built.
  const ports = { ledger: {}, lease: { runId: 'run' }, definition: { name: 'run' } } as unknown as GraphPorts;
  const { edges } = await createRunGraph(ports).getGraphAsync();
  expect(drawn.toSorted()).toEqual(edges.map(({ source, target }) => `${source} → ${target}`).toSorted());
});
