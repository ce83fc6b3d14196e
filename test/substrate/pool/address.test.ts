import { describe, expect, it } from 'vitest';
import { poolAddress } from '../../../src/substrate/pool/address.ts';

describe('the address of a pool', () => {
  it.each([
    ['postgres://squad@127.0.0.1:5432/squad', null],
    ['postgres://localhost/squad?sslmode=disable', 'disable'],
    ['postgres://db.example/squad', 'verify-full'],
    ['postgres://db.example/squad?sslmode=require', 'verify-full'],
  ])('beyond this machine is reached by TLS with a checked certificate: %s', (text, mode) => {
    expect(new URL(poolAddress(text).url).searchParams.get('sslmode')).toBe(mode);
  });

  it.each(['disable', 'allow', 'prefer', 'no-verify'])('is refused beyond this machine with sslmode=%s', (mode) => {
    expect(() => poolAddress(`postgres://db.example/squad?sslmode=${mode}`)).toThrow('has to be reached by TLS');
  });

  it.each(['', 'db.example', 'https://db.example/squad', 'mysql://db.example/squad'])(
    'is no other text: “%s”',
    (text) => {
      expect(() => poolAddress(text)).toThrow('is no address of a pool');
    },
  );

  it('is shown without its password, also where it is refused', () => {
    expect(poolAddress('postgres://squad:canary-9c0d@127.0.0.1/squad').shown).not.toContain('canary');
    expect(() => poolAddress('https://squad:canary-9c0d@db.example/squad')).toThrow(/^(?!.*canary)/);
  });
});
