/**
 * Loaded in front of a program (`node --import`) whose stdin is a pipe from the process that started it: ends the
 * program when that process is gone, even by SIGKILL.
 */
process.stdin.on('close', () => process.exit(1)).resume()
// The pipe alone is no reason to stay.
if ('unref' in process.stdin) process.stdin.unref()
