// The parts of ECharts that the charts use, and no more.
import * as echarts from 'echarts/core';
import { LineChart, ScatterChart, BarChart, CustomChart } from 'echarts/charts';
import {
  GridComponent, TooltipComponent, LegendComponent, TitleComponent,
  MarkLineComponent,
} from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';

echarts.use([
  LineChart, ScatterChart, BarChart, CustomChart, GridComponent,
  TooltipComponent, LegendComponent, TitleComponent, MarkLineComponent,
  SVGRenderer,
]);

export default echarts;
