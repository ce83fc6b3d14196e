import { expect, test } from 'vitest';
import {
  mountTypeOf,
  networkFilesystem,
  readNetworkFilesystem,
} from '../../../src/substrate/ledger/filesystem-kind.ts';
import { temporaryFolder } from './support.ts';

const FUSE = 0x65735546;

test.each([
  ['NFS', 0x6969, undefined, 'NFS'],
  ['CIFS as a signed number', 0xff534d42 | 0, undefined, 'CIFS'],
  ['SMB2', 0xfe534d42, undefined, 'SMB2'],
  ['9p', 0x01021997, undefined, '9p'],
  ['sshfs', FUSE, 'fuse.sshfs', 'fuse.sshfs'],
  ['a local FUSE', FUSE, 'fuse.ntfs-3g', undefined],
  ['virtiofs', FUSE, 'virtiofs', undefined],
  ['a FUSE nobody names', FUSE, undefined, undefined],
  ['ext4', 0xef53, 'ext4', undefined],
  ['tmpfs', 0x01021994, undefined, undefined],
])('%s', (_, magic, mountType, expected) => {
  expect(networkFilesystem(magic, mountType)).toBe(expected);
});

const MOUNTS = [
  '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw',
  '30 22 0:25 / /home/me/with\\040blank rw - fuse.sshfs host:/ rw',
  '31 22 0:26 / /home/me rw - xfs /dev/vdb rw',
  '32 22 0:27 / /home/me rw - btrfs /dev/vdc rw',
  'a broken line',
].join('\n');

test.each([
  ['/home/me/with blank/deep', 'fuse.sshfs'],
  ['/home/me/with', 'btrfs'],
  ['/home/mean', 'ext4'],
  ['/', 'ext4'],
])('the innermost mount of %s is %s', (path, expected) => {
  expect(mountTypeOf(MOUNTS, path)).toBe(expected);
});

test('the folder of the tests is on a local filesystem', () => {
  expect(readNetworkFilesystem(temporaryFolder())).toBeUndefined();
});
