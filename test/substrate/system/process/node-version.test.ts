import { describe, expect, it } from 'vitest';
import { refuseOldNode } from '../../../../src/substrate/system/process/node-version.ts';

describe('a Node that runs squad', () => {
  it.each([
    ['22.14.0', '10'],
    ['24.21.0', '10'],
    ['26.0.0', '11'],
  ])('may be %s', (node, napi) => {
    expect(() => refuseOldNode({ node, napi })).not.toThrow();
  });

  it.each([
    ['20.20.2', '9'],
    ['22.11.0', '9'],
    ['18.0.0', undefined],
  ])('is not %s', (node, napi) => {
    const versions = napi === undefined ? { node } : { node, napi };
    expect(() => refuseOldNode(versions)).toThrow(`Node ${node} cannot run squad: it needs Node 22.14 or newer`);
  });
});
