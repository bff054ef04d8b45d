"""`macros.html` as Python, made by jinja2; see `page_templates`."""

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'macros.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_bar = l_0_plot = l_0_rows_with_bars = l_0_pair_card = missing
    try:
        t_1 = environment.filters['format']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'format' found.")
    try:
        t_2 = environment.filters['join']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'join' found.")
    pass
    yield '\n'
    def macro(l_1_length, l_1_tone):
        t_3 = []
        if l_1_length is missing:
            l_1_length = undefined("parameter 'length' was not provided", name='length')
        if l_1_tone is missing:
            l_1_tone = ''
        pass
        t_3.extend((
            '<svg class="length ',
            escape(l_1_tone),
            '" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="',
            escape(t_1('%.2f', (100 * l_1_length))),
            '" height="1"/></svg>\n',
        ))
        return concat(t_3)
    context.exported_vars.add('bar')
    context.vars['bar'] = l_0_bar = Macro(environment, macro, 'bar', ('length', 'tone'), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_drawn, l_1_caption):
        t_4 = []
        if l_1_drawn is missing:
            l_1_drawn = undefined("parameter 'drawn' was not provided", name='drawn')
        if l_1_caption is missing:
            l_1_caption = undefined("parameter 'caption' was not provided", name='caption')
        pass
        t_4.extend((
            '<figure class="drawn">\n  <div class="wide">',
            escape(environment.getattr(l_1_drawn, 'wide')),
            '</div>\n  <div class="narrow">',
            escape(environment.getattr(l_1_drawn, 'narrow')),
            '</div>\n  <figcaption>',
            escape(l_1_caption),
        ))
        if environment.getattr(l_1_drawn, 'log'):
            pass
            t_4.append(
                ' The vertical scale is logarithmic: each line is ten times the one below.',
            )
        t_4.extend((
            '</figcaption>\n  <details>\n    <summary>The numbers</summary>\n    <table class="numbers">\n      <caption>',
            escape(t_2(context.eval_ctx, environment.getattr(l_1_drawn, 'columns'), ', ')),
            '</caption>\n      <thead><tr>',
        ))
        for l_2_name in environment.getattr(l_1_drawn, 'columns'):
            _loop_vars = {}
            pass
            t_4.extend((
                '<th scope="col">',
                escape(l_2_name),
                '</th>',
            ))
        l_2_name = missing
        t_4.append(
            '</tr></thead>\n      <tbody>\n',
        )
        for l_2_row in environment.getattr(l_1_drawn, 'rows'):
            _loop_vars = {}
            pass
            t_4.append(
                '        <tr>',
            )
            for l_3_cell in l_2_row:
                _loop_vars = {}
                pass
                t_4.extend((
                    '<td>',
                    escape(l_3_cell),
                    '</td>',
                ))
            l_3_cell = missing
            t_4.append(
                '</tr>\n',
            )
        l_2_row = missing
        t_4.append(
            '      </tbody>\n    </table>\n  </details>\n</figure>\n',
        )
        return concat(t_4)
    context.exported_vars.add('plot')
    context.vars['plot'] = l_0_plot = Macro(environment, macro, 'plot', ('drawn', 'caption'), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_caption, l_1_columns, l_1_rows, l_1_tone, l_1_total):
        t_5 = []
        if l_1_caption is missing:
            l_1_caption = undefined("parameter 'caption' was not provided", name='caption')
        if l_1_columns is missing:
            l_1_columns = undefined("parameter 'columns' was not provided", name='columns')
        if l_1_rows is missing:
            l_1_rows = undefined("parameter 'rows' was not provided", name='rows')
        if l_1_tone is missing:
            l_1_tone = 'removed'
        if l_1_total is missing:
            l_1_total = None
        pass
        t_5.extend((
            '<div class="scroll" tabindex="0" role="region" aria-label="',
            escape(l_1_caption),
            '">\n<table class="bars">\n  <caption>',
            escape(l_1_caption),
            '</caption>\n  <thead><tr>',
        ))
        for l_2_name in l_1_columns:
            _loop_vars = {}
            pass
            t_5.extend((
                '<th scope="col">',
                escape(l_2_name),
                '</th>',
            ))
        l_2_name = missing
        t_5.append(
            '<td class="bar-cell"></td></tr></thead>\n  <tbody>\n',
        )
        for l_2_row in l_1_rows:
            _loop_vars = {}
            pass
            t_5.append(
                '    <tr>\n      <th scope="row">',
            )
            if environment.getattr(l_2_row, 'foreign'):
                pass
                t_5.extend((
                    '<bdi>',
                    escape(environment.getattr(l_2_row, 'name')),
                    '</bdi>',
                ))
            else:
                pass
                t_5.extend((
                    '<i>',
                    escape(environment.getattr(l_2_row, 'name')),
                    '</i>',
                ))
            t_5.append(
                '</th>\n',
            )
            for l_3_cell in environment.getattr(l_2_row, 'cells'):
                _loop_vars = {}
                pass
                t_5.extend((
                    '<td>',
                    escape(l_3_cell),
                    '</td>',
                ))
            l_3_cell = missing
            t_5.extend((
                '      <td class="bar-cell">',
                escape(context.call((undefined(name='bar') if l_0_bar is missing else l_0_bar), environment.getattr(l_2_row, 'bar'), markup_join((l_1_tone, ('' if environment.getattr(l_2_row, 'foreign') else ' rest'), )), _loop_vars=_loop_vars)),
                '</td>\n    </tr>\n',
            ))
        l_2_row = missing
        t_5.append(
            '  </tbody>\n',
        )
        if l_1_total:
            pass
            t_5.append(
                '  <tfoot><tr><th scope="row">the whole run</th>',
            )
            for l_2_cell in l_1_total:
                _loop_vars = {}
                pass
                t_5.extend((
                    '<td>',
                    escape(l_2_cell),
                    '</td>',
                ))
            l_2_cell = missing
            t_5.append(
                '<td class="bar-cell"></td></tr></tfoot>\n',
            )
        t_5.append(
            '</table>\n</div>\n',
        )
        return concat(t_5)
    context.exported_vars.add('rows_with_bars')
    context.vars['rows_with_bars'] = l_0_rows_with_bars = Macro(environment, macro, 'rows_with_bars', ('caption', 'columns', 'rows', 'tone', 'total'), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_pair, l_1_left_word, l_1_right_word):
        t_6 = []
        if l_1_pair is missing:
            l_1_pair = undefined("parameter 'pair' was not provided", name='pair')
        if l_1_left_word is missing:
            l_1_left_word = undefined("parameter 'left_word' was not provided", name='left_word')
        if l_1_right_word is missing:
            l_1_right_word = undefined("parameter 'right_word' was not provided", name='right_word')
        pass
        t_6.extend((
            '<article class="card pair">\n  <header>\n    <p class="score"><strong>',
            escape(environment.getattr(l_1_pair, 'score')),
            '</strong> ',
            escape(environment.getattr(l_1_pair, 'measure')),
            '</p>\n    <h3><bdi class="left">',
            escape(environment.getattr(l_1_pair, 'left_id')),
            '</bdi> <span class="versus">and</span> <bdi class="right">',
            escape(environment.getattr(l_1_pair, 'right_id')),
            '</bdi></h3>\n    <p class="contained">',
            escape(environment.getattr(l_1_pair, 'contained')),
            ' of the left text is in the right one, ',
            escape(environment.getattr(l_1_pair, 'contains')),
            ' of the right in the left.',
        ))
        if environment.getattr(l_1_pair, 'resemblance'):
            pass
            t_6.extend((
                ' Resemblance ',
                escape(environment.getattr(l_1_pair, 'resemblance')),
                '.',
            ))
        t_6.append(
            '</p>\n  </header>\n',
        )
        if environment.getattr(l_1_pair, 'marks'):
            pass
            t_6.append(
                '  <p class="marked" dir="auto">',
            )
            for l_2_mark in environment.getattr(l_1_pair, 'marks'):
                _loop_vars = {}
                pass
                if (environment.getattr(l_2_mark, 'tag') == 'gap'):
                    pass
                    t_6.append(
                        ' <bdi class="gap" dir="ltr" title="omitted common text">⋯',
                    )
                    if environment.getattr(l_2_mark, 'text'):
                        pass
                        t_6.extend((
                            ' ',
                            escape(environment.getattr(l_2_mark, 'text')),
                            ' ⋯',
                        ))
                    t_6.append(
                        '</bdi> ',
                    )
                elif (environment.getattr(l_2_mark, 'tag') == 'del'):
                    pass
                    t_6.extend((
                        '<del title="',
                        escape(l_1_left_word),
                        '">',
                        escape(environment.getattr(l_2_mark, 'text')),
                        '</del>',
                    ))
                elif (environment.getattr(l_2_mark, 'tag') == 'ins'):
                    pass
                    t_6.extend((
                        '<ins title="',
                        escape(l_1_right_word),
                        '">',
                        escape(environment.getattr(l_2_mark, 'text')),
                        '</ins>',
                    ))
                else:
                    pass
                    t_6.append(
                        escape(environment.getattr(l_2_mark, 'text')),
                    )
            l_2_mark = missing
            t_6.append(
                '</p>\n',
            )
        for l_2_note in environment.getattr(l_1_pair, 'notes'):
            _loop_vars = {}
            pass
            t_6.extend((
                '<p class="note">',
                escape(l_2_note),
                '</p>',
            ))
        l_2_note = missing
        t_6.append(
            '</article>\n',
        )
        return concat(t_6)
    context.exported_vars.add('pair_card')
    context.vars['pair_card'] = l_0_pair_card = Macro(environment, macro, 'pair_card', ('pair', 'left_word', 'right_word'), False, False, False, context.eval_ctx.autoescape)

blocks = {}
debug_info = '3=25&4=34&7=43&9=52&10=54&11=56&15=65&16=68&18=80&19=86&27=106&28=121&30=123&31=126&33=138&35=144&36=161&37=172&41=179&42=184&48=203&51=214&52=218&53=222&55=237&57=242&58=245&62=287'
