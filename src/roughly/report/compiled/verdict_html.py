"""`verdict.html` as Python, made by jinja2; see `page_templates`."""

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'verdict.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_f1 = resolve('f1')
    l_0_pairs = resolve('pairs')
    l_0_probability = resolve('probability')
    l_0_threshold = resolve('threshold')
    l_0_size = resolve('size')
    l_0_prior = resolve('prior')
    l_0_weights = resolve('weights')
    l_0_calibration = resolve('calibration')
    l_0_curve = resolve('curve')
    l_0_wrongly_same = resolve('wrongly_same')
    l_0_missed = resolve('missed')
    l_0_m = l_0_title = missing
    pass
    l_0_m = context.vars['m'] = environment.get_template('macros.html', 'verdict.html')._get_default_module(context)
    context.exported_vars.discard('m')
    l_0_title = 'a learned verdict'
    context.vars['title'] = l_0_title
    context.exported_vars.add('title')
    template = environment.get_template('head.html', 'verdict.html')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'m': l_0_m, 'title': l_0_title}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    yield '<body>\n<header class="top">\n  <p class="brand">Roughly <span>a learned verdict</span></p>\n  <h1>F1 '
    yield escape((undefined(name='f1') if l_0_f1 is missing else l_0_f1))
    yield ' on unseen labels</h1>\n  <p class="lead">Learnt from '
    yield escape((undefined(name='pairs') if l_0_pairs is missing else l_0_pairs))
    yield ' pairs. Two documents are the same from a probability of '
    yield escape((undefined(name='probability') if l_0_probability is missing else l_0_probability))
    yield ' and a resemblance of '
    yield escape((undefined(name='threshold') if l_0_threshold is missing else l_0_threshold))
    yield ' on, on shingles of '
    yield escape((undefined(name='size') if l_0_size is missing else l_0_size))
    yield ' words.</p>\n</header>\n<main>\n<section id="weights">\n  <h2>Weights</h2>\n  <p class="lead">The log-odds begin at '
    yield escape((undefined(name='prior') if l_0_prior is missing else l_0_prior))
    yield '; each comparison adds at most what is listed.</p>\n  '
    yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'rows_with_bars'), 'Comparisons', ['comparison', 'adds at most', '95 % interval'], (undefined(name='weights') if l_0_weights is missing else l_0_weights), tone='kept'))
    yield '\n</section>\n<section id="calibration">\n  <h2>Calibration</h2>\n  '
    yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'plot'), (undefined(name='calibration') if l_0_calibration is missing else l_0_calibration), 'Labelled pairs by the probability that verdicts learnt without them give: the share that are the same. On the dashed line, probabilities are right.'))
    yield '\n</section>\n<section id="curve">\n  <h2>Precision and recall</h2>\n  '
    yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'plot'), (undefined(name='curve') if l_0_curve is missing else l_0_curve), 'On unseen labels, for probabilities from 0.05 (right) to 0.95.'))
    yield '\n</section>\n'
    for (l_1_id, l_1_title, l_1_lead, (l_1_number, l_1_some)) in [('wrong', 'Different by the labels, the same by the verdict', 'The verdict is surest of the first.', (undefined(name='wrongly_same') if l_0_wrongly_same is missing else l_0_wrongly_same)), ('missed', 'The same by the labels, different by the verdict', 'The least probable come first.', (undefined(name='missed') if l_0_missed is missing else l_0_missed))]:
        _loop_vars = {}
        pass
        yield '<section id="'
        yield escape(l_1_id)
        yield '">\n  <h2>'
        yield escape(l_1_title)
        yield ': '
        yield escape(l_1_number)
        yield '</h2>\n'
        if l_1_some:
            pass
            yield '<p class="lead">'
            yield escape(l_1_lead)
            yield ' A wrong label may be among them.</p>'
        for l_2_pair in l_1_some:
            _loop_vars = {}
            pass
            yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'pair_card'), l_2_pair, 'only in the left text', 'only in the right text', _loop_vars=_loop_vars))
        l_2_pair = missing
        yield '</section>\n'
    l_1_id = l_1_title = l_1_lead = l_1_number = l_1_some = missing
    yield '</main>\n<footer><p>Written by <code>roughly tune --learn --report</code>.</p></footer>\n</body>\n</html>'

blocks = {}
debug_info = '1=23&2=25&3=28&7=35&8=37&13=45&14=47&18=49&22=51&24=53&28=57&29=59&30=63&31=68'
