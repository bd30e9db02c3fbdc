const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `12/Mar/2020:19:03:58 +0000`, as events carry it beside the epoch. */
export function requestTime(at: Date): string {
  const [date = '', time = ''] = at.toISOString().split('T');
  const [year, month, day] = date.split('-');
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`;
}
