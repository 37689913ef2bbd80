/** `"0.5"` as people read money: `$0.50`. No digit is ever left out. */
export const dollarsText = (usd: string): string => {
  const [whole = '0', fraction = ''] = usd.split('.')
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`
}
