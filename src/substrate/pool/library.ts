import { loadPeer } from '../system/load-peer.ts';

const PACKAGES = ['pg', 'pg-boss'];

/** Both are loaded by the first use of a pool. */
export async function loadPg() {
  return loadPeer(PACKAGES, 'a pool', async () => import('pg'));
}

export async function loadBoss() {
  return loadPeer(PACKAGES, 'a pool', async () => import('pg-boss'));
}
