import { connect } from 'node:net'

/** What a server says to bytes that no client would send, until it hangs up. */
export const told = (url: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let heard = ''
    socket.setEncoding('utf8')
    socket.on('data', (more: string) => (heard += more))
    socket.on('close', () => resolve(heard))
    socket.on('error', reject)
    socket.write(text)
  })
