import { NODE_WITH_TYPES } from './machine.ts';

// Set-up of each test file under Node 22.14 to 22.17.
const path = process.env[NODE_WITH_TYPES];
if (path !== undefined) process.execPath = path;
