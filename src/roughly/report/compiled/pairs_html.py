"""`pairs.html` as Python, made by jinja2; see `page_templates`."""

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'pairs.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_above = resolve('above')
    l_0_unmeasured = resolve('unmeasured')
    l_0_threshold = resolve('threshold')
    l_0_below = resolve('below')
    l_0_legend = missing
    pass
    def macro(l_1_left_word, l_1_right_word):
        t_1 = []
        if l_1_left_word is missing:
            l_1_left_word = undefined("parameter 'left_word' was not provided", name='left_word')
        if l_1_right_word is missing:
            l_1_right_word = undefined("parameter 'right_word' was not provided", name='right_word')
        pass
        t_1.extend((
            '<p class="legend">Text <del>marked like this</del> is only in the left document (',
            escape(l_1_left_word),
            '), <ins>like this</ins> only in the right one (',
            escape(l_1_right_word),
            '); ¶ is a paragraph break, ⋯ stands for omitted common text.</p>\n',
        ))
        return concat(t_1)
    context.exported_vars.add('legend')
    context.vars['legend'] = l_0_legend = Macro(environment, macro, 'legend', ('left_word', 'right_word'), False, False, False, context.eval_ctx.autoescape)
    if (undefined(name='above') if l_0_above is missing else l_0_above):
        pass
        yield '<section id="above">\n'
        if (undefined(name='unmeasured') if l_0_unmeasured is missing else l_0_unmeasured):
            pass
            yield '  <h2>Some pairs with a key in common</h2>\n  <p class="lead">The run did not measure them; their scores were computed for this page. If these are not the same document to you, verify pairs (<code>--verify</code>).</p>\n'
        else:
            pass
            yield '  <h2>Pairs just above the threshold'
            yield escape((markup_join((' ', (undefined(name='threshold') if l_0_threshold is missing else l_0_threshold), )) if (undefined(name='threshold') if l_0_threshold is missing else l_0_threshold) else cond_expr_undefined("the inline if-expression on line 10 in 'pairs.html' evaluated to false and no else section was defined.")))
            yield '</h2>\n  <p class="lead">The least similar pairs that still count as duplicates. If these are not the same document to you, raise the threshold.</p>\n'
        yield '  '
        yield escape(context.call((undefined(name='legend') if l_0_legend is missing else l_0_legend), 'the one that ranks lower', 'the one that ranks higher'))
        yield '\n'
        for l_1_pair in (undefined(name='above') if l_0_above is missing else l_0_above):
            l_1_m = resolve('m')
            _loop_vars = {}
            pass
            yield escape(context.call(environment.getattr((undefined(name='m') if l_1_m is missing else l_1_m), 'pair_card'), l_1_pair, 'only in the left text', 'only in the right text', _loop_vars=_loop_vars))
        l_1_pair = l_1_m = missing
        yield '</section>\n'
    if (undefined(name='below') if l_0_below is missing else l_0_below):
        pass
        yield '<section id="below">\n  <h2>Pairs just below the threshold'
        yield escape((markup_join((' ', (undefined(name='threshold') if l_0_threshold is missing else l_0_threshold), )) if (undefined(name='threshold') if l_0_threshold is missing else l_0_threshold) else cond_expr_undefined("the inline if-expression on line 19 in 'pairs.html' evaluated to false and no else section was defined.")))
        yield '</h2>\n  <p class="lead">The most similar pairs that do not count as duplicates. If these are the same document to you, lower the threshold.</p>\n  '
        yield escape(context.call((undefined(name='legend') if l_0_legend is missing else l_0_legend), 'the one that ranks lower', 'the one that ranks higher'))
        yield '\n'
        for l_1_pair in (undefined(name='below') if l_0_below is missing else l_0_below):
            l_1_m = resolve('m')
            _loop_vars = {}
            pass
            yield escape(context.call(environment.getattr((undefined(name='m') if l_1_m is missing else l_1_m), 'pair_card'), l_1_pair, 'only in the left text', 'only in the right text', _loop_vars=_loop_vars))
        l_1_pair = l_1_m = missing
        yield '</section>\n'

blocks = {}
debug_info = '1=16&2=25&4=33&6=36&10=42&13=45&14=47&17=54&19=57&21=59&22=61'
