import { expect, test } from 'vitest'
import { parseHtml } from '../../../../../server/jobs/dataset/documents/parseHtml.ts'
import { expectWellBuilt, shown } from './parsedBlocks.ts'

const parsed = (html: string) => parseHtml(new Uint8Array(Buffer.from(html)), 'a.html')
const blocks = async (html: string) => shown(await parsed(html))

test('headings, paragraphs, lists, tables, quotes and code are blocks in their order', async () => {
  const html = `<!DOCTYPE html><html><head><title>T</title><style>p { x }</style><body>Before
    <h1>One <b>two</b></h1><p>First &amp; <i>last</i><br>next</p>
    <ul><li>a<li><p>b</p><ol start="3"><li>c</li><li>d</li></ol></li></ul>
    <table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td></td><td><p>3</p></td></tr></table>
    <blockquote><p>q</p><p>r</p></blockquote><pre>  let x
    = 1</pre><h3>Deep</h3>after`
  expect(await blocks(html)).toEqual([
    'paragraph: Before',
    'heading 1: One two',
    'paragraph: First & last\nnext',
    'list: - a\n- b\n  3. c\n  4. d',
    'table: x | y\n1 | | 3',
    'quote: q\nr',
    'code:   let x\n    = 1',
    'heading 3: Deep',
    'paragraph: after',
  ])
})

test.each([
  ['scripts, also with tags in them', `<p>a<script>if (1<b) w('<p>no</p>')</script>b</p>`, 'ab'],
  ['SCRIPTS in any case', '<p>a</p><SCRIPT>no</script ><p>b</p>', 'a\n\nb'],
  ['styles, templates and comments', '<style>no</style><template><p>no</p></template><!-- <p>no --><p>a</p>', 'a'],
  ['what follows a script in a comment', '<!-- <script> --><p>a</p>', 'a'],
  ['scripts and comments that never end', '<p>a<script>no<!-- <p>no', 'a'],
  ['attributes that hold tags', `<p title="<p>no" id='>'>a</p>`, 'a'],
  ['end tags that end nothing', 'a</p>b</br>c</b></div>d', 'a\n\nb\ncd'],
  ['end tags in a table of what is around it', '<div><b><table><tr><td>a</b></div></p>b<td>c</table>d', 'a b | c\n\nd'],
  ['elements named like parts of every object', '<b><constructor>a<valueOf>b</constructor></b>', 'ab'],
])('%s are read as a browser shows them', async (_, html, text) => {
  expect((await parsed(html)).text).toBe(text)
})

test('entities are decoded once', async () => {
  expect((await parsed('<p>&lt;b&gt; &eacute; &#x1F600; &#8364; &amp;lt; &#xD800;</p>')).text).toBe('<b> é 😀 € &lt; \ufffd')
})

test('what a document declares is found in its head, and a body without tags of its own is text', async () => {
  const html = '<title>A\n  title</title><META NAME="Confidential" content="no"><link rel="license" href="https://x.y/z">words'
  expect(await parsed(html)).toMatchObject({
    text: 'words',
    declared: { title: 'A title', confidential: 'no', license: 'https://x.y/z' },
  })
})

test('of two attributes with one name the first counts, with its entities decoded', async () => {
  const html = '<meta name="Owner" content="R&amp;D &lt;x&gt;" CONTENT="no"><meta property=og:type content=a&b><p>words'
  expect((await parsed(html)).declared).toEqual({ owner: 'R&D <x>', 'og:type': 'a&b' })
})

test('images are left out, and that is noted', async () => {
  expect((await parsed('<p>a <img src="x"><svg><path/></svg></p>')).notes).toEqual(['its images and media are left out (2)'])
})

test('elements that are not closed lose nothing', async () => {
  expect(await blocks('<h1>a<h2>b</h2><p>c<p>d<table><tr><td>e<td>f<tr><td>g')).toEqual([
    'heading 1: a',
    'heading 2: b',
    'paragraph: c',
    'paragraph: d',
    'table: e | f\ng',
  ])
})

test('elements nested deeper than calls can be are read', async () => {
  const read = await parsed(`${'<div><b>'.repeat(50_000)}deep${'</b></div>'.repeat(50_000)}<p>after`)
  expect(shown(read)).toEqual(['paragraph: deep', 'paragraph: after'])
})

test('end tags that end nothing, deep in elements that never end, lose nothing', async () => {
  expect(await blocks(`${'<div><font>'.repeat(50_000)}a${'</i></td>'.repeat(50_000)}b`)).toEqual(['paragraph: ab'])
})

test('a tag with more attributes than calls can be nested is read', async () => {
  expect(await blocks(`<p ${'a b=c '.repeat(300_000)}>words`)).toEqual(['paragraph: words'])
})

test('lists nested without end are read in linear space', async () => {
  const read = await parsed('<ul><li>x'.repeat(5_000))
  expect(read.text.length).toBeLessThan(5_000 * 60)
  expectWellBuilt(read)
})
